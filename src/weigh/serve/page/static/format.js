// Numbers as people read them.

const MINUS = "\u2212";
const NARROW_SPACE = "\u202f";

/** Format a number with about four significant digits. */
export function formatNumber(value, digits = 4) {
  if (value === null || value === undefined) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : value < 0 ? `${MINUS}∞` : "–";
  const size = Math.abs(value);
  const text =
    size !== 0 && (size >= 1e12 || size < 1e-4)
      ? value.toExponential(Math.max(0, digits - 1))
      : value.toLocaleString("en", { maximumSignificantDigits: Math.max(digits, Math.ceil(Math.log10(size + 1))) });
  return text.replaceAll("-", MINUS);
}

/** Format a number with its sign and two decimals, or more digits if it is small or large. */
export function formatSigned(value) {
  if (value === 0) return "0";
  if (Number.isNaN(value)) return "–";
  const sign = value > 0 ? "+" : MINUS;
  const size = Math.abs(value);
  if (!Number.isFinite(size)) return `${sign}∞`;
  return sign + (size < 0.1 || size >= 1000 ? formatNumber(size, size < 0.1 ? 2 : 6) : size.toFixed(2));
}

/** Format a probability in percent; only exact ones are shown as 0 and 100 %. */
export function formatPercent(share) {
  const percent = 100 * share;
  if (share > 0 && percent < 0.01) return `<${NARROW_SPACE}0.01${NARROW_SPACE}%`;
  if (share < 1 && percent > 99.99) return `>${NARROW_SPACE}99.99${NARROW_SPACE}%`;
  const digits = percent < 1 || percent > 99 ? 2 : 1;
  const text = share === 0 || share === 1 ? percent.toFixed(0) : percent.toFixed(digits);
  return `${text}${NARROW_SPACE}%`;
}

/** Format a count with its noun: "1 row", "2,000 rows". */
export function formatQuantity(count, singular, plural = `${singular}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? singular : plural}`;
}

// Characters that are invisible or change the order of others, except the joiners that many scripts need.
const INVISIBLE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Return a name of the model for display: on one line, with escapes for invisible characters, not too long. */
export function formatName(name, length = 80) {
  const letters = Array.from(String(name ?? "–"));
  const shown = letters.length <= length ? letters : [...letters.slice(0, length - 1), "…"];
  return shown.join("").replace(INVISIBLE, (char) => `\\u{${char.codePointAt(0).toString(16)}}`);
}

/** Join names as in a sentence: "a, b or c". */
export function joinAlternatives(names) {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
}

/** Return the verdict, its measure and the runner-up of an explanation as one sentence. */
export function verdictSentence(explanation) {
  if (explanation.unit === "predicted") return `Predicted: ${formatNumber(explanation.total)}`;
  if (explanation.probabilities) {
    const share = explanation.probabilities[explanation.verdict];
    return `Verdict: ${formatName(explanation.verdict)}, probability ${formatPercent(share)}`;
  }
  return `Verdict: ${formatName(explanation.verdict)}, ahead by ${formatNumber(explanation.total)} ${explanation.unit}`;
}
