// Predictions for a whole file: choose or drop a CSV, see its first rows, and download it with the answers.

import { request } from "./api.js";
import { parseCsv } from "./csv.js";
import { announce, element, scrollBox, table, uniqueId } from "./dom.js";
import { formatName, formatQuantity } from "./format.js";

const PREVIEW_ROWS = 20;

export class Batch {
  constructor(model) {
    this.model = model;
    const id = uniqueId("file");
    this.input = element("input", { type: "file", id, class: "unseen", accept: ".csv,.tsv,.txt,text/csv,text/tab-separated-values" });
    this.zone = element(
      "div",
      { class: "drop" },
      this.input,
      element("label", { for: id, class: "primary" }, "Choose a CSV file"),
      element("p", {}, "or drop it here"),
    );
    this.status = element("p", { class: "lead", role: "status" });
    this.result = element("div", { class: "batch-result" });
    const names = model.columns.map((column) => column.name);
    const listed = names.slice(0, 8).map((name) => formatName(name)).join(", ") + (names.length > 8 ? ` and ${names.length - 8} more` : "");
    this.node = element(
      "section",
      { class: "card", "aria-labelledby": "batch-title" },
      element("h2", { id: "batch-title", tabindex: "-1" }, "A whole file"),
      element("p", { dir: "auto" }, `The file needs a header line with the model's columns: ${listed}. You get it back with a prediction${model.classes ? ", its probability" : ""} and the strongest reasons in each row.`),
      this.zone, this.status, this.result,
    );
    this.listen();
  }

  listen() {
    this.input.addEventListener("change", () => {
      if (this.input.files.length) this.predict(this.input.files[0]);
    });
    this.zone.addEventListener("dragenter", () => this.zone.classList.add("over"));
    this.zone.addEventListener("dragleave", () => this.zone.classList.remove("over"));
    // A file that is dropped beside the zone would otherwise replace the page.
    document.addEventListener("dragover", (event) => {
      if (event.dataTransfer.types.includes("Files")) event.preventDefault();
    });
    document.addEventListener("drop", (event) => {
      if (event.dataTransfer.types.includes("Files")) this.drop(event);
    });
  }

  drop(event) {
    event.preventDefault();
    this.zone.classList.remove("over");
    if (!event.dataTransfer.files.length) return;
    location.hash = "#file";
    this.predict(event.dataTransfer.files[0]);
  }

  async predict(file) {
    this.current = file;
    this.status.textContent = `Predicting ${formatName(file.name)} …`;
    this.result.replaceChildren();
    try {
      const path = `page/batch/${encodeURIComponent(this.model.name)}`;
      const response = await request(path, { method: "POST", body: file, headers: { "Content-Type": "text/csv" } });
      const answer = await response.blob();
      const count = Number(response.headers.get("X-Rows"));
      const head = await answer.slice(0, 1 << 20).text();
      if (file === this.current) this.show(file, answer, count, parseCsv(head, PREVIEW_ROWS + 1));
    } catch (problem) {
      if (file === this.current) this.status.textContent = problem.message;
    }
    this.input.value = "";
  }

  show(file, answer, count, [names, ...records]) {
    this.status.textContent = `${formatQuantity(count, "row")} of ${formatName(file.name)} predicted.`;
    announce(this.status.textContent);
    if (this.address) URL.revokeObjectURL(this.address);
    this.address = URL.createObjectURL(answer);
    const name = `${file.name.replace(/\.[^.]*$/, "")}-predicted.csv`;
    const added = names.slice(-addedColumns(names));
    // The answers come first in the preview, where they are seen without scrolling.
    const order = [...added, ...names.slice(0, names.length - added.length)];
    const rows = records.map((record) => order.map((column) => record[names.lastIndexOf(column)] ?? ""));
    const caption = count > records.length ? `The first ${records.length} of ${formatQuantity(count, "row")}` : formatQuantity(count, "row");
    const preview = table(caption, order, rows);
    preview.classList.add("preview");
    this.result.replaceChildren(
      element("p", {}, element("a", { href: this.address, download: name, class: "primary" }, `Download ${formatName(name)}`)),
      scrollBox("Preview of the predictions", preview),
    );
  }
}

/** Return how many columns the server added at the end: from "prediction" on. */
function addedColumns(names) {
  return names.length - names.lastIndexOf("prediction");
}
