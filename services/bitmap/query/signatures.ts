import type { Argument, Call, Value } from './ast';
import { CallError } from './errors';

/** What a call takes, beside values without a name, which the parser counts. */
interface Signature {
  /** Calls that it takes, at most. */
  calls: number;
  /** Arguments that it knows by their names. */
  named?: readonly string[];
  /**
   * The others: none unless stated; a row of one field, or a condition on it as well; any names, of attributes or fields; or
   * whatever there is, which is ignored (specification 3, B: `Options`).
   */
  others?: 'row' | 'row or condition' | 'any' | 'ignored';
}

const lookup: Signature = { calls: 0, named: ['from', 'to'], others: 'row or condition' };
const combination: Signature = { calls: Infinity };
const aggregate: Signature = { calls: 1, named: ['field'] };
const any: Signature = { calls: 0, others: 'any' };

const signatures: Record<string, Signature> = {
  Set: { calls: 0, others: 'row' },
  Clear: { calls: 0, others: 'row' },
  ClearRow: { calls: 0, others: 'row' },
  Store: { calls: 1, others: 'row' },
  SetRowAttrs: any,
  SetColumnAttrs: any,
  SetFieldValue: any,
  Row: lookup,
  Range: lookup,
  Union: combination,
  Intersect: combination,
  Difference: combination,
  Xor: combination,
  Not: { calls: 1 },
  Shift: { calls: 1, named: ['n'] },
  Count: { calls: 1 },
  Sum: aggregate,
  Min: aggregate,
  Max: aggregate,
  MinRow: aggregate,
  MaxRow: aggregate,
  TopN: { calls: 1, named: ['n', 'ids', 'threshold', 'attrName', 'attrValues', 'tanimotoThreshold'] },
  Rows: { calls: 0, named: ['field', 'previous', 'limit', 'column', 'from', 'to'] },
  GroupBy: { calls: Infinity, named: ['limit', 'offset', 'filter'] },
  Options: { calls: 1, named: ['columnAttrs', 'excludeColumns', 'excludeRowAttrs', 'shards'], others: 'ignored' },
};

const signatureOf = ({ name }: Call): Signature | undefined =>
  Object.hasOwn(signatures, name) ? signatures[name] : undefined;

/**
 * Checks that a call, and every call in it, takes what it is given, so that nothing is ignored. Calls that do not exist are
 * refused by what executes them.
 *
 * @throws CallError
 */
export function checkCall(call: Call): void {
  const signature = signatureOf(call);
  if (!signature) {
    return;
  }
  const { calls, named = [], others } = signature;
  const extra = call.children[calls];
  if (extra && others !== 'ignored') {
    throw new CallError(`${call.name} takes ${calls === 0 ? 'no calls' : 'only one row'}`, extra.at);
  }
  if (others === 'row' || others === 'row or condition') {
    checkLookup(call, others);
  } else {
    checkNamed(call, named, others);
  }
  call.children.slice(0, calls).forEach(checkCall);
  for (const name of named) {
    const value = call.args.get(name)?.value;
    if (isCall(value)) {
      checkCall(value);
    }
  }
}

const isCall = (value: Value | undefined): value is Call =>
  typeof value === 'object' && value !== null && 'children' in value;

/**
 * Checks that a call has no arguments but these, and that those are given with `=`.
 *
 * @throws CallError
 */
export function checkNamed(call: Call, named: readonly string[], others?: 'any' | 'ignored'): void {
  for (const [name, argument] of call.args) {
    const isNamed = named.includes(name);
    if (!isNamed && !others) {
      const taken = named.length > 0 ? `it takes ${named.join(', ')}` : 'it takes no arguments by name';
      throw new CallError(`${call.name} does not take ${name}; ${taken}`, argument.at);
    }
    if (isNamed || others === 'any') {
      mustBeGiven(name, argument);
    }
  }
}

function mustBeGiven(name: string, { operator, at }: Argument): void {
  if (operator !== '=') {
    throw new CallError(`${name} is given with =, not compared`, at);
  }
}

function checkLookup(call: Call, allowed: 'row' | 'row or condition'): void {
  const { name: field, argument } = fieldArgument(call);
  const others = [...call.args].filter(([name]) => name !== field);
  for (const [name, other] of others) {
    mustBeGiven(name, other);
  }
  if (argument.operator === '=') {
    return;
  }
  if (allowed === 'row') {
    throw new CallError(`${call.name} takes field=row, no comparison`, argument.at);
  }
  // A condition is about values, which have no times.
  const extra = others[0]?.[1] ?? call.positional[0];
  if (extra) {
    throw new CallError('too many arguments', extra.at);
  }
}

/**
 * The one argument of a call that is about a field, and its name. A field may be called like an argument: it is meant where
 * there is no other.
 *
 * @throws CallError
 */
export function fieldArgument(call: Call): { name: string; argument: Argument } {
  const named = signatureOf(call)?.named ?? [];
  const [first, second] = [...call.args].filter(([name]) => !named.includes(name));
  const only = first ?? [...call.args][0];
  if (!only) {
    throw new CallError(`${call.name} needs a field`, call.at);
  }
  if (second) {
    throw new CallError('too many arguments', second[1].at);
  }
  return { name: only[0], argument: only[1] };
}
