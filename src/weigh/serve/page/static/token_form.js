// The form for a token, shown when the server wants one.

import { hasToken, setToken } from "./api.js";
import { element } from "./dom.js";

/** Create the form; `again` is called when a token was given. */
export function createTokenForm(problem, again) {
  const wasRefused = hasToken();
  const input = element("input", { type: "password", id: "token", autocomplete: "off", spellcheck: "false", required: true, "aria-describedby": "token-note" });
  const form = element(
    "form",
    { class: "card token" },
    element("h1", {}, "A token is needed"),
    element("p", { role: wasRefused ? "alert" : null, class: wasRefused ? "problem" : null }, wasRefused ? `The token was refused. ${problem.message}` : "This server answers only those who have a token. Whoever runs it can give you one."),
    element("label", { for: "token" }, "Token"),
    input,
    element("p", { class: "note", id: "token-note" }, "It is kept in this tab until you close it."),
    element("button", { type: "submit", class: "primary" }, "Continue"),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    setToken(input.value.trim());
    again();
  });
  return { node: form, focus: () => input.focus() };
}
