-- Opens a document in Neovim, applies code actions, types, and writes what the client sees.
local output = assert(io.open(os.getenv("WEIGH_OUTPUT"), "w"))
local function write(...)
  output:write(table.concat(vim.tbl_map(tostring, { ... }), " ") .. "\n")
  output:flush()
end
local function found(count)
  return vim.wait(30000, function() return #vim.diagnostic.get(0) == count end, 20)
end

vim.bo.filetype = "markdown"
local options = { model = os.getenv("WEIGH_MODEL"), severity = "hint" }
local command = { os.getenv("WEIGH_PYTHON"), "-m", "weigh.cli.main", "spell", "lsp" }
local client = vim.lsp.start_client({ name = "weigh", cmd = command, init_options = options })
vim.lsp.buf_attach_client(0, client)
write("found", found(2))
for _, each in ipairs(vim.diagnostic.get(0)) do
  write(each.lnum, each.col, each.end_col, each.severity, each.message:match("^%S+ → %S+"))
end

vim.api.nvim_win_set_cursor(0, { 3, 14 })
local function request(method, more)
  local range = { line = 2, character = 10 }
  local params = { textDocument = vim.lsp.util.make_text_document_params(), position = range }
  params.range = { start = range, ["end"] = range }
  params.context = { diagnostics = {}, only = more }
  return vim.lsp.buf_request_sync(0, method, params, 30000)[client].result
end
write(request("textDocument/hover").contents.value:match("^[^\n]*probability"))
local fix = request("textDocument/codeAction", { "quickfix" })[1]
write(fix.title)
vim.lsp.util.apply_workspace_edit(fix.edit, "utf-16")
write("found", found(1))
vim.lsp.util.apply_workspace_edit(request("textDocument/codeAction", { "source.fixAll" })[1].edit, "utf-16")
write("found", found(0))
write(table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "|"))
vim.api.nvim_buf_set_text(0, 8, 4, 8, 11, { "whether" })
write("found", found(1))
vim.cmd("qa!")
