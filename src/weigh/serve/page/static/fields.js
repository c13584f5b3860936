// Fields of the form: one for each column, chosen by its kind. The value of an empty field is null, a missing cell.

import { element, uniqueId } from "./dom.js";
import { formatName, formatNumber } from "./format.js";

const MENU_LEVELS = 40; // longer lists of levels are searched by typing

/** Return the field of a column: { column, node, get, set, focus, example }. `changed` is called after each input. */
export function createField(column, isOnlyText, changed) {
  const { kind } = column;
  const create =
    kind === "text" ? (...args) => textField(...args, isOnlyText)
    : kind === "tokens" ? tokensField
    : kind === "flag" ? flagField
    : kind === "date" ? dateField
    : Array.isArray(column.levels) ? categoryField
    : kind === "category" ? wordField
    : numberField;
  return create(column, changed);
}

/** Put a label, a hint, a button that empties the field, and the control together. */
function frame(column, control, hint, clear, ...more) {
  const label = element("label", { for: control.id, dir: "auto", title: column.name.length > 80 ? column.name : null }, formatName(column.name));
  const empty = element("button", { type: "button", class: "clear", "aria-label": `Empty ${formatName(column.name)}` }, "Empty");
  empty.addEventListener("click", () => {
    clear();
    control.focus();
  });
  const note = hint ? element("span", { class: "hint", id: `${control.id}-hint` }, hint) : null;
  if (note) control.setAttribute("aria-describedby", note.id);
  return element(
    "div",
    { class: "field", "data-kind": column.kind },
    element("div", { class: "label-line" }, label, note, empty),
    control,
    ...more,
  );
}

function markMissing(node, isMissing) {
  node.classList.toggle("is-missing", isMissing);
}

function textField(column, changed, isOnlyText) {
  const area = element("textarea", {
    id: uniqueId("field"), rows: isOnlyText ? 9 : 4, spellcheck: "false", dir: "auto",
    placeholder: isOnlyText ? "Type or paste a text, or a whole mail with its headers" : "",
  });
  const set = (value) => {
    area.value = value ?? "";
    markMissing(node, area.value === "");
  };
  const node = frame(column, area, "", () => { set(null); changed(column); });
  area.addEventListener("input", () => {
    markMissing(node, area.value === "");
    changed(column);
  });
  set(null);
  return { column, node, get: () => area.value || null, set, focus: () => area.focus(), example: null };
}

function tokensField(column, changed) {
  const field = textField(column, changed, false);
  const read = () => (field.get() === null ? null : field.get().split("\n").map((word) => word.trim()).filter(Boolean));
  field.node.querySelector(".label-line label").after(element("span", { class: "hint" }, "one per line"));
  return { ...field, get: read, set: (words) => field.set(Array.isArray(words) ? words.join("\n") : words) };
}

function flagField(column, changed) {
  const [off, on] = flagWords(column);
  const box = element("input", { type: "checkbox", class: "switch", id: uniqueId("field") });
  const state = element("span", { class: "switch-state", "aria-hidden": "true" });
  const set = (value) => {
    const isMissing = value === null || value === undefined;
    box.indeterminate = isMissing;
    box.checked = !isMissing && (value === true || value === 1 || value === on);
    show();
  };
  const show = () => {
    state.textContent = box.indeterminate ? "missing" : formatName(box.checked ? on : off, 20);
    markMissing(node, box.indeterminate);
  };
  const node = frame(column, box, "", () => { set(null); changed(column); }, state);
  node.classList.add("flag");
  box.addEventListener("change", () => {
    show();
    changed(column);
  });
  set(null);
  return {
    column, node, set, focus: () => box.focus(),
    get: () => (box.indeterminate ? null : box.checked),
    example: () => Math.random() < 0.5,
  };
}

/** The words for the two states of a flag: those of the training rows, if it had words. */
export function flagWords({ choices }) {
  return choices && typeof choices[0] === "string" ? choices : ["no", "yes"];
}

function dateField(column, changed) {
  const hasTime = column.format?.includes(":") ?? false;
  const input = element("input", { type: hasTime ? "datetime-local" : "date", id: uniqueId("field") });
  const set = (value) => {
    input.value = value ?? "";
    markMissing(node, input.value === "");
  };
  const node = frame(column, input, "", () => { set(null); changed(column); });
  input.addEventListener("input", () => {
    markMissing(node, input.value === "");
    changed(column);
  });
  set(null);
  const day = () => new Date(Date.now() - Math.random() * 3e10).toISOString().slice(0, hasTime ? 16 : 10);
  return { column, node, set, focus: () => input.focus(), get: () => input.value || null, example: day };
}

function categoryField(column, changed) {
  return column.levels.length <= MENU_LEVELS ? menuField(column, changed) : wordField(column, changed);
}

const OTHER = "other";

/** A menu of the levels, whose last entry opens a text box for a new level. */
function menuField(column, changed) {
  const menu = element(
    "select",
    { id: uniqueId("field") },
    element("option", { value: "" }, "missing"),
    ...column.levels.map((level, at) => element("option", { value: at }, formatName(level))),
    element("option", { value: OTHER }, "another value …"),
  );
  const word = element("input", {
    type: "text", class: "other", "aria-label": `Another value of ${formatName(column.name)}`, placeholder: "another value", dir: "auto",
  });
  const show = () => {
    word.hidden = menu.value !== OTHER;
    markMissing(node, menu.value === "");
  };
  const set = (value) => {
    const at = column.levels.findIndex((level) => level === value || String(level) === String(value));
    menu.value = value === null || value === undefined ? "" : at < 0 ? OTHER : at;
    word.value = menu.value === OTHER ? value : "";
    show();
  };
  const get = () => (menu.value === "" ? null : menu.value === OTHER ? word.value || null : column.levels[menu.value]);
  const node = frame(column, menu, "", () => { set(null); changed(column); }, word);
  menu.addEventListener("change", () => {
    show();
    if (menu.value === OTHER) word.focus();
    changed(column);
  });
  word.addEventListener("input", () => changed(column));
  set(null);
  const example = () => column.levels[Math.floor(Math.random() * column.levels.length)] ?? null;
  return { column, node, get, set, focus: () => menu.focus(), example };
}

/** A text box that suggests levels, if the model has any. */
function wordField(column, changed) {
  const levels = column.levels ?? [];
  const list = element("datalist", { id: uniqueId("levels") }, ...levels.map((level) => element("option", { value: level })));
  const input = element("input", { type: "text", id: uniqueId("field"), list: list.id, dir: "auto", autocomplete: "off" });
  const set = (value) => {
    input.value = value ?? "";
    markMissing(node, input.value === "");
  };
  const get = () => {
    if (input.value === "") return null;
    return levels.find((level) => String(level) === input.value) ?? input.value;
  };
  const hint = column.n_levels > levels.length ? `${formatNumber(column.n_levels)} values in training` : "";
  const node = frame(column, input, hint, () => { set(null); changed(column); }, list);
  input.addEventListener("input", () => {
    markMissing(node, input.value === "");
    changed(column);
  });
  set(null);
  const example = () => levels[Math.floor(Math.random() * levels.length)] ?? null;
  return { column, node, get, set, focus: () => input.focus(), example };
}

/** Return a step of 1, 2 or 5 times a power of ten that divides a range into 100 to 250 steps. */
function sliderStep(range) {
  const power = 10 ** Math.floor(Math.log10(range / 100));
  const lead = range / 100 / power;
  return (lead >= 5 ? 5 : lead >= 2 ? 2 : 1) * power;
}

/** Return a number without the rounding errors of multiples of a step. */
function tidy(value) {
  return Number(value.toPrecision(10));
}

/** A box for a number, with a slider over the range of the training rows. */
function numberField(column, changed) {
  const { minimum, maximum } = column;
  const hasRange = Number.isFinite(minimum) && Number.isFinite(maximum) && minimum < maximum;
  const input = element("input", { type: "number", step: "any", id: uniqueId("field"), inputmode: "decimal" });
  const step = column.kind === "count" ? 1 : hasRange ? sliderStep(maximum - minimum) : 1;
  const [low, high] = hasRange ? [Math.floor(minimum / step) * step, Math.ceil(maximum / step) * step].map(tidy) : [0, 1];
  const slider = hasRange
    ? element("input", { type: "range", min: low, max: high, step, "aria-label": `${formatName(column.name)}, as a slider` })
    : null;
  const read = () => (input.value === "" || !Number.isFinite(input.valueAsNumber) ? null : input.valueAsNumber);
  const show = () => {
    const value = read();
    if (slider) {
      slider.value = value ?? (low + high) / 2;
      slider.setAttribute("aria-valuetext", value === null ? "missing" : formatNumber(value));
      const share = (Math.min(Math.max(value ?? low, low), high) - low) / (high - low);
      slider.style.setProperty("--share", `${100 * share}%`);
    }
    markMissing(node, value === null);
    node.classList.toggle("is-unusual", hasRange && value !== null && (value < low || value > high));
  };
  const set = (value) => {
    input.value = value ?? "";
    show();
  };
  const unit = column.unit ? ` ${formatName(column.unit, 20)}` : "";
  const hint = hasRange ? `${formatNumber(minimum, 3)} to ${formatNumber(maximum, 3)}${unit} in training` : unit;
  const controls = slider ? element("div", { class: "number" }, slider, input) : input;
  const node = frame(column, input, hint, () => { set(null); changed(column); });
  input.replaceWith(controls);
  if (slider) controls.append(input);
  input.addEventListener("input", () => { show(); changed(column); });
  slider?.addEventListener("input", () => {
    set(tidy(slider.valueAsNumber));
    changed(column);
  });
  set(null);
  const example = () => (hasRange ? tidy(Math.round((low + (high - low) * (0.15 + 0.7 * Math.random())) / step) * step) : null);
  return { column, node, get: read, set, focus: () => input.focus(), example };
}
