// "This is wrong": teach the model the right class of the row, and take it back.

import { modelPath, postChange } from "./api.js";
import { announce, button, element, uniqueId } from "./dom.js";
import { formatName } from "./format.js";

const MAX_RADIOS = 8; // more classes are chosen from a menu

/** Return the sentence why the model cannot be corrected here, or null if it can. */
export function reasonAgainst(model) {
  if (!model.can_learn) return model.cannot_learn;
  if (!model.scopes.includes("learn")) return "This token may read, but not correct the model: it does not have the scope learn.";
  if (model.label === null) return "The model does not name its label column, so a right class cannot be sent to it.";
  return null;
}

export class Correction {
  /** `read()` returns the row and its verdict; `changed()` is called after the model has changed. */
  constructor(model, read, changed) {
    this.model = model;
    this.read = read;
    this.changed = changed;
    this.node = element("div", { class: "correction" });
    this.history = [];
    this.status = element("p", { class: "note" });
    this.refused = reasonAgainst(model);
    this.showButton();
  }

  showButton() {
    if (this.refused !== null) {
      this.node.replaceChildren(element("p", { class: "note" }, this.refused));
      return;
    }
    this.open = button("This is wrong", () => this.showChoice(), { class: "quiet" });
    this.undo = button("Undo", () => this.takeBack(), { class: "small", hidden: this.history.length === 0 });
    this.node.replaceChildren(element("div", { class: "line" }, this.open, this.status, this.undo));
  }

  showChoice() {
    const { row, verdict } = this.read();
    const others = this.model.classes.filter((label) => label !== verdict);
    this.row = row;
    this.status.textContent = "";
    const choice = others.length <= MAX_RADIOS ? radios(others) : menu(others);
    const teach = element("button", { type: "submit", class: "primary" }, "Teach the model");
    const form = element(
      "form",
      { class: "choice" },
      element("fieldset", {}, element("legend", {}, "Which class is right?"), choice.node),
      element("div", { class: "line" }, teach, button("Cancel", () => this.close(), { class: "quiet" })),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const at = choice.read();
      if (at !== null) this.teach(others[at], teach);
    });
    this.node.replaceChildren(form);
    choice.focus();
  }

  /** Withdraw the question about another row. */
  follow(row) {
    if (this.node.querySelector("form") && JSON.stringify(row) !== JSON.stringify(this.row)) this.showButton();
  }

  close() {
    this.showButton();
    this.open?.focus();
  }

  async teach(label, pressed) {
    pressed.disabled = true;
    const row = { ...this.row, [this.model.label]: label };
    if (await this.change("learn", row)) {
      this.history.push({ row, label });
      this.status.textContent = `Learned as ${formatName(label)}.`;
      announce(this.status.textContent);
    }
    this.close();
  }

  async takeBack() {
    const { row, label } = this.history.at(-1);
    this.undo.disabled = true;
    if (await this.change("forget", row)) {
      this.history.pop();
      this.status.textContent = `Forgotten: it no longer counts as ${formatName(label)}.`;
      announce(this.status.textContent);
    }
    this.close();
  }

  /** Post a change; say why if it is refused, and do not offer changes again that the server never allows. */
  async change(operation, row) {
    try {
      const answer = await postChange(modelPath(this.model.name, operation), [row]);
      this.changed(answer.model);
      return true;
    } catch (problem) {
      if (problem.status === 403 || (problem.status === 409 && operation === "learn")) this.refused = problem.message;
      this.status.textContent = problem.message;
      announce(problem.message);
      return false;
    }
  }
}

function radios(labels) {
  const name = uniqueId("class");
  const inputs = labels.map((_, at) => element("input", { type: "radio", name, value: at, required: true, checked: labels.length === 1 }));
  const lines = inputs.map((input, at) => element("label", { class: "radio", dir: "auto" }, input, element("span", {}, formatName(labels[at]))));
  const read = () => {
    const at = inputs.findIndex((input) => input.checked);
    return at < 0 ? null : at;
  };
  return { node: element("div", { class: "radios" }, ...lines), read, focus: () => inputs[0].focus() };
}

function menu(labels) {
  const options = labels.map((label, at) => element("option", { value: at }, formatName(label)));
  const select = element("select", { "aria-label": "Right class" }, ...options);
  return { node: select, read: () => Number(select.value), focus: () => select.focus() };
}
