// The list of the models that the server has.

import { root } from "./api.js";
import { typeTitle } from "./card.js";
import { element } from "./dom.js";
import { formatName, formatQuantity } from "./format.js";

function entry(model) {
  const classes = model.classes ? ` among ${formatQuantity(model.classes.length, "class", "classes")}` : "";
  const columns = formatQuantity(model.columns.length, "column");
  return element(
    "li",
    {},
    element(
      "a",
      { class: "card entry", href: new URL(`models/${encodeURIComponent(model.name)}`, root) },
      element("span", { class: "kicker" }, typeTitle(model)),
      element("span", { class: "entry-name", dir: "auto" }, formatName(model.name)),
      element("span", { class: "note", dir: "auto" }, `${model.label ? `${formatName(model.label)}${classes}` : `A prediction${classes}`} from ${columns}`),
    ),
  );
}

export function createModelList(models) {
  return element(
    "div",
    {},
    element("div", { class: "title" }, element("h1", {}, "Models"), element("p", { class: "subtitle" }, "Choose one to see what it predicts and why.")),
    element("ul", { class: "entries" }, ...models.map(entry)),
  );
}
