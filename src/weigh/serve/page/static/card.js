// What the model is: its kind, classes, columns, certificate and digest, and the report beside it.

import { hasToken, request, root } from "./api.js";
import { button, element, scrollBox, table } from "./dom.js";
import { flagWords } from "./fields.js";
import { formatName, formatNumber, formatPercent, formatQuantity } from "./format.js";
import { shareOf } from "./verdict.js";

const TYPES = {
  "naive-bayes": "naive Bayes", "joint-bayes": "joint Bayes", linear: "linear classifier", perceptron: "perceptron", voted: "voted perceptron",
  logistic: "logistic regression", regression: "linear regression", threshold: "threshold", calibrated: "calibrated classifier",
};
const MAX_COLUMNS = 200;
const MAX_CLASSES = 100;

export function typeTitle(model) {
  return TYPES[model.type] ?? model.type;
}

function fact(name, value) {
  return element("div", {}, element("dt", {}, name), element("dd", { dir: "auto" }, value));
}

/** Write a plain value of the API as text. */
function describe(value) {
  if (value === null || value === undefined) return "–";
  if (typeof value === "number") return formatNumber(value);
  if (typeof value !== "object") return formatName(value, 200);
  if (Array.isArray(value)) return value.map(describe).join(", ");
  return Object.entries(value).map(([name, part]) => `${name.replaceAll("_", " ")} ${describe(part)}`).join("; ");
}

function describeColumn(column) {
  if (column.levels) {
    const shown = column.levels.slice(0, 6).map((level) => formatName(level, 30)).join(", ");
    return column.levels.length > 6 ? `${formatQuantity(column.n_levels ?? column.levels.length, "value")}: ${shown} …` : shown;
  }
  if (Number.isFinite(column.minimum) && Number.isFinite(column.maximum)) return `${formatNumber(column.minimum, 3)} to ${formatNumber(column.maximum, 3)}`;
  if (column.choices) return flagWords(column).map((word) => formatName(word, 30)).join(" / ");
  if (column.format) return `such as ${column.format}`;
  return "–";
}

function classTable(model, rows) {
  const total = rows ? Object.values(rows).reduce((sum, count) => sum + count, 0) : 0;
  const lines = model.classes.slice(0, MAX_CLASSES).map((label) => {
    const count = rows ? (shareOf(rows, label) ?? null) : null;
    return [formatName(label), count === null ? "–" : formatNumber(count, 9), count === null || !total ? "–" : formatPercent(count / total)];
  });
  return table(`${formatQuantity(model.classes.length, "class", "classes")}, and their training rows`, ["class", "rows", "share"], lines, [1, 2]);
}

/** A link to the report; with a token, which links cannot carry, a button that downloads it. */
function reportLink(model) {
  if (!model.report) return element("p", { class: "note" }, "There is no report beside the model; ", element("code", {}, "weigh report"), " writes one.");
  const address = new URL(model.report.replace(/^\//, ""), root);
  if (!hasToken()) return element("p", {}, element("a", { href: address, class: "primary" }, "Open the report"));
  const status = element("span", { class: "note" });
  const download = button("Download the report", async () => {
    try {
      const content = await (await request(address)).blob();
      const url = URL.createObjectURL(content);
      element("a", { href: url, download: `${model.name}.html` }).click();
      setTimeout(() => URL.revokeObjectURL(url), 10_000);
    } catch (problem) {
      status.textContent = problem.message;
    }
  }, { class: "primary" });
  return element("p", {}, download, " ", status);
}

export class Card {
  constructor(model) {
    this.model = model;
    this.classes = element("div");
    const columns = model.columns.slice(0, MAX_COLUMNS).map((column) => [formatName(column.name), column.kind, describeColumn(column)]);
    const more = model.columns.length > MAX_COLUMNS ? `the first ${MAX_COLUMNS} of ${formatQuantity(model.columns.length, "column")}` : formatQuantity(columns.length, "column");
    this.node = element(
      "section",
      { class: "card model-card", "aria-labelledby": "card-title" },
      element("h2", { id: "card-title", tabindex: "-1" }, "About the model"),
      reportLink(model),
      element("div", { class: "pair" }, element(
        "dl",
        {},
        fact("name", formatName(model.name)),
        fact("kind", typeTitle(model)),
        model.label ? fact("predicts", formatName(model.label)) : null,
        model.calibration ? fact("calibration", describe(model.calibration)) : null,
        model.certificate ? fact("certificate", describe(model.certificate)) : null,
        model.digest ? fact("digest", element("code", {}, model.digest)) : null,
      ),
      model.classes ? scrollBox("Classes", this.classes) : null),
      element("details", { open: columns.length <= 12 }, element("summary", {}, "Columns"),
        scrollBox("Columns", table(more, ["column", "kind", "in training"], columns))),
    );
    this.update(model.rows);
  }

  /** Show the numbers of rows per class, which change with corrections. */
  update(rows) {
    if (this.model.classes) this.classes.replaceChildren(classTable(this.model, rows));
  }
}
