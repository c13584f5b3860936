// The whole calculation in exact fractions, as text; requested only while it is open.

import { modelPath, postJson } from "./api.js";
import { element, scrollBox } from "./dom.js";
import { formatNumber, formatSigned } from "./format.js";

/** Return the sum of the contributions as text, for models that have weights instead of counts. */
function sumAsText({ evidence, unit, total }) {
  const lines = evidence.map((row) => [row.value ? `${row.feature} = ${row.value}` : row.feature, formatSigned(row[unit])]);
  lines.push(["total", unit === "predicted" ? formatNumber(total, 6) : formatSigned(total)]);
  const width = Math.min(60, Math.max(...lines.map(([name]) => name.length)));
  const sum = lines.map(([name, number]) => `${name.padEnd(width)}  ${number.padStart(12)}`).join("\n");
  return `This model has weights, not counts, so its calculation is a sum:\n\n${sum}`;
}

export class Worked {
  constructor(model) {
    this.model = model;
    this.text = element("pre", {}, "");
    this.node = element(
      "details",
      { class: "card worked", hidden: true },
      element("summary", {}, "The arithmetic"),
      scrollBox("The arithmetic", this.text),
    );
    this.node.addEventListener("toggle", () => this.load());
  }

  update(row, explanation) {
    this.row = row;
    this.explanation = explanation;
    this.node.hidden = false;
    this.load();
  }

  async load() {
    if (!this.node.open || this.shown === this.explanation) return;
    const { explanation } = this;
    this.shown = explanation;
    const text = this.model.can_work ? await this.request() : sumAsText(explanation);
    if (this.shown === explanation) this.text.textContent = text;
  }

  async request() {
    try {
      const { explanations } = await postJson(modelPath(this.model.name, "explain"), { rows: [this.row], worked: true });
      return explanations[0].worked;
    } catch (problem) {
      return problem.message;
    }
  }
}
