// The CSV that the server writes: commas, and cells with special characters in double quotes.

/** Return the first records of a CSV text as lists of cells. */
export function parseCsv(text, limit) {
  const records = [];
  let [record, cell, at] = [[], "", 0];
  while (at < text.length && records.length < limit) {
    if (text[at] === '"') {
      const start = at + 1;
      do at = text.indexOf('"', at + 1) + 1; while (at > 0 && text[at] === '"');
      if (at === 0) return records;
      cell = text.slice(start, at - 1).replaceAll('""', '"');
    } else {
      const start = at;
      while (at < text.length && text[at] !== "," && text[at] !== "\n") at += 1;
      cell = text.slice(start, at);
    }
    record.push(cell);
    if (at >= text.length || text[at] === "\n") {
      records.push(record);
      record = [];
    }
    at += 1;
  }
  return records;
}
