import { InvalidQueryError } from './statement';

/**
 * What queries may call. The library brings more than SQLite has, functions that read and write files among them, so
 * nothing can be called that is not known to be harmless.
 */
const harmless = new Set(
  [
    'avg count group_concat max median min mode stdev string_agg sum total variance lower_quartile upper_quartile',
    'cume_dist dense_rank first_value lag last_value lead nth_value ntile percent_rank rank row_number',
    'abs ceil ceiling exp floor ln log log10 log2 mod pi pow power random round sign sqrt trunc',
    'char concat concat_ws format glob hex instr length like lower ltrim octet_length printf quote regexp replace rtrim',
    'substr substring trim typeof unicode upper coalesce ifnull iif nullif likelihood likely unlikely',
    'current_date current_time current_timestamp date datetime julianday strftime time timediff unixepoch',
    '-> ->> json json_array json_array_length json_extract json_group_array json_group_object json_object json_patch',
    'json_quote json_remove json_replace json_set json_insert json_type json_valid',
  ].flatMap((names) => names.split(' ')),
);

/** One instruction of a compiled statement, as `EXPLAIN` lists it. */
export interface Instruction {
  opcode: string;
  p2: number;
  p4: string | null;
}

const virtualTables = new Set(['VOpen', 'VFilter', 'VUpdate', 'VCreate', 'VDestroy', 'VBegin']);
const calls = /^(PureFunc|Function|Agg)/;

/**
 * Refuses a compiled statement that writes, reads a virtual table (some of these are files), or calls a function that is
 * not known to be harmless. This is the text as SQLite understands it: nothing hides from it in quotes or comments.
 *
 * @throws InvalidQueryError
 */
export function assertHarmless(program: readonly Instruction[]): void {
  for (const { opcode, p2, p4 } of program) {
    if (opcode === 'Transaction' && p2 !== 0) {
      throw new InvalidQueryError('Only SELECT can be executed.');
    }
    if (virtualTables.has(opcode)) {
      throw new InvalidQueryError('Virtual tables and table-valued functions cannot be used.');
    }
    if (!calls.test(opcode)) {
      continue;
    }
    const name = (p4 ?? '').replace(/\(-?\d+\)$/, '').toLowerCase();
    if (!harmless.has(name)) {
      throw new InvalidQueryError(`not authorized to use function: ${name}`);
    }
  }
}
