import { parse } from 'lossless-json';
import { UsageError } from '../failures';
import { oneLine } from '../output/plain';

/** Writes a cell of a line as a call takes it. @throws Error that describes what the cell has to be */
type Operand = (text: string) => string;

/** What columns and rows of a field are. */
export interface Operands {
  column: Operand;
  row: Operand;
}

interface Options {
  type?: string;
  keys?: boolean;
  min?: { toString(): string };
  max?: { toString(): string };
  noStandardView?: boolean;
}

interface Described {
  name: string;
  options?: Options;
}

interface Schema {
  indexes?: (Described & { fields?: Described[] | null })[] | null;
}

const [minInt64, maxInt64] = [-(2n ** 63n), 2n ** 63n - 1n];

const key: Operand = (text) => {
  if (!/^[A-Za-z0-9_.:@/-]{1,200}$/.test(text)) {
    throw new Error('no name of A-Z a-z 0-9 _ . : @ / -');
  }
  return `"${text}"`;
};

/** A whole number; the service reads no leading zeros, which files may have. */
const integer =
  (min: bigint, max: bigint): Operand =>
  (text) => {
    const value = /^-?\d{1,40}$/.test(text) ? BigInt(text) : undefined;
    if (value === undefined || value < min || value > max) {
      throw new Error(`no whole number from ${min} to ${max}`);
    }
    return String(value);
  };

const boolean: Operand = (text) => {
  if (text !== 'true' && text !== 'false') {
    throw new Error('neither true nor false');
  }
  return text;
};

const id = integer(0n, maxInt64);

function rowOf({ type, keys, min, max, noStandardView }: Options): Operand {
  if (noStandardView === true) {
    throw new UsageError(
      'The field takes no bits without a time (noStandardView): set them with "runboard bitmap query".',
    );
  }
  switch (type) {
    case 'int':
      return integer(BigInt(min?.toString() ?? minInt64), BigInt(max?.toString() ?? maxInt64));
    case 'bool':
      return boolean;
    default:
      return keys === true ? key : id;
  }
}

/**
 * What columns and rows of a field are, by the schema of the service as it came.
 *
 * @returns undefined where there is no such index or field
 * @throws UsageError for a field whose bits have times only, which lines have not
 */
export function operandsOf(schema: string, names: { index: string; field: string }): Operands | undefined {
  const { indexes } = parse(schema) as Schema;
  const index = indexes?.find(({ name }) => name === names.index);
  const field = index?.fields?.find(({ name }) => name === names.field);
  return field && { column: index?.options?.keys === true ? key : id, row: rowOf(field.options ?? {}) };
}

/** Where there is no such field, which the service reports: only the form of lines is checked. */
export const anyOperands: Operands = { column: key, row: key };

/** The calls that set what a file of `column,row` (or `column,value`) lines holds. @throws UsageError naming the line */
export function callsOf(source: string, field: string, operands: Operands): string[] {
  return source.split(/\r?\n/).flatMap((line, n) => {
    if (line.trim() === '' || line.startsWith('#')) {
      return [];
    }
    const where = `line ${n + 1}`;
    const cells = line.split(',').map((cell) => cell.trim());
    const [column, row] = cells;
    if (cells.length !== 2 || column === undefined || row === undefined) {
      throw new UsageError(`${where}: write "column,row", or "column,value" for a field of integers`);
    }
    const cell = (text: string, name: keyof Operands): string => {
      try {
        return operands[name](text);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        throw new UsageError(`${where}: the ${name} "${oneLine(text, 40)}" is ${reason}`);
      }
    };
    return [`Set(${cell(column, 'column')}, ${field}=${cell(row, 'row')})`];
  });
}
