/**
 * What this agent knows how to write. A real agent would ask a model; for an example it is better that everybody can
 * see where the code comes from. Each entry is a function and one assertion that shows it works.
 */
export const catalogue = {
  slugify: {
    source: `export function slugify(text) {
  return text.normalize('NFKD').replace(/\\p{M}/gu, '').toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '');
}`,
    check: `assert.equal(slugify('Crème brûlée, twice!'), 'creme-brulee-twice');`,
  },
  clamp: {
    source: `export function clamp(value, low, high) {
  return Math.min(Math.max(value, low), high);
}`,
    check: `assert.deepEqual([clamp(-1, 0, 5), clamp(3, 0, 5), clamp(9, 0, 5)], [0, 3, 5]);`,
  },
  chunk: {
    source: `export function chunk(list, size) {
  if (!Number.isInteger(size) || size < 1) throw new RangeError('size must be a positive integer');
  return Array.from({ length: Math.ceil(list.length / size) }, (_, i) => list.slice(i * size, (i + 1) * size));
}`,
    check: `assert.deepEqual(chunk([1, 2, 3, 4, 5], 2), [[1, 2], [3, 4], [5]]);`,
  },
  unique: {
    source: `export function unique(list) {
  return [...new Set(list)];
}`,
    check: `assert.deepEqual(unique([3, 1, 3, 2, 1]), [3, 1, 2]);`,
  },
  titleCase: {
    source: `export function titleCase(text) {
  return text.toLowerCase().replace(/(^|\\s)\\p{L}/gu, (start) => start.toUpperCase());
}`,
    check: `assert.equal(titleCase('the QUICK brown fox'), 'The Quick Brown Fox');`,
  },
  sum: {
    source: `export function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}`,
    check: `assert.equal(sum([1, 2, 3.5]), 6.5);`,
  },
  range: {
    source: `export function range(from, to) {
  return Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i);
}`,
    check: `assert.deepEqual(range(2, 6), [2, 3, 4, 5]);`,
  },
  groupBy: {
    source: `export function groupBy(list, keyOf) {
  const groups = new Map();
  for (const item of list) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}`,
    check: `assert.deepEqual([...groupBy([1, 2, 3], (n) => n % 2)], [[1, [1, 3]], [0, [2]]]);`,
  },
  truncate: {
    source: `export function truncate(text, length) {
  return text.length <= length ? text : text.slice(0, Math.max(0, length - 1)) + '…';
}`,
    check: `assert.equal(truncate('abcdef', 4), 'abc…');`,
  },
};

const operators = /^[\w\s+\-*/%().,?:<>=!&|'"`[\]]+$/;

/**
 * The code for one item of a list, or `undefined` when this agent does not know how to write it: something from the
 * catalogue by its name, or an expression over the parameters, as in `add area(width, height): width * height`.
 */
export function write({ name, parameters, text }) {
  if (Object.hasOwn(catalogue, name)) {
    return catalogue[name];
  }
  const words = text.match(/[A-Za-z_$][\w$]*/g) ?? [];
  const isExpression = text !== '' && operators.test(text) && words.every((word) => parameters.includes(word));
  if (!isExpression || !parses(parameters, text)) {
    return undefined;
  }
  return {
    source: `export function ${name}(${parameters.join(', ')}) {\n  return ${text};\n}`,
    check: `assert.equal(typeof ${name}, 'function');`,
  };
}

/** Whether the words make an expression; it is not evaluated here. */
function parses(parameters, text) {
  try {
    return Boolean(new Function(...parameters, `return (${text});`));
  } catch {
    return false;
  }
}
