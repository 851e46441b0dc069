import { frameField, frameIntField } from '../engine/frames';
import { type Argument, type Call, textOf } from './ast';
import { CallError } from './errors';
import { checkNamed } from './signatures';

/**
 * The earlier revision's language, recognised by its words and rewritten in the current one's. A
 * frame becomes the field that it is stored as.
 */
const onlyEarlier = new Set(['SetBit', 'ClearBit', 'Bitmap', 'SetFieldValue']);

/** Whether any call, at any depth, is one that only the earlier revision has, or has a form that only it has. */
export const isEarlierQuery = (calls: readonly Call[]): boolean =>
  calls.some((call) => isEarlierCall(call) || isEarlierQuery(call.children));

function isEarlierCall({ name, args, positional }: Call): boolean {
  if (onlyEarlier.has(name)) {
    return true;
  }
  if (name === 'SetColumnAttrs') {
    return positional.length === 0 && args.has('col');
  }
  // A field of the current revision may be called `frame`: what is compared is a field.
  if (args.get('frame')?.operator !== '=' || positional.length > 0) {
    return false;
  }
  if (name === 'Range') {
    return args.has('row') || [...args.values()].some(({ operator }) => operator !== '=');
  }
  return ['SetRowAttrs', 'TopN', 'Sum', 'Min', 'Max'].includes(name);
}

const argument = (value: Argument['value'], at: number): Argument => ({ operator: '=', value, at });

function needed(call: Call, name: string): Argument {
  const countArgument = call.args.get(name);
  if (countArgument?.operator !== '=') {
    throw new CallError(`${name} required`, call.at);
  }
  return countArgument;
}

function frameOf(call: Call): string {
  const frame = textOf(needed(call, 'frame').value);
  if (frame === undefined) {
    throw new CallError('frame must be the name of a frame', call.at);
  }
  return frame;
}

const without = (call: Call, ...names: string[]): [string, Argument][] =>
  [...call.args].filter(([name]) => !names.includes(name));

type Rewrite = (call: Call) => Pick<Call, 'name' | 'positional' | 'args'>;

const bit =
  (name: 'Set' | 'Clear'): Rewrite =>
  (call) => {
    const column = needed(call, 'col');
    const time = call.args.get('timestamp');
    const row = needed(call, 'row');
    return {
      name,
      positional: [column, ...(time ? [time] : [])],
      args: new Map([[frameField(frameOf(call)), row]]),
    };
  };

const aggregate: Rewrite = (call) => {
  const field = textOf(call.args.get('field')?.value) ?? '';
  const frame = textOf(call.args.get('frame')?.value) ?? '';
  return {
    name: call.name,
    positional: [],
    args: new Map([['field', argument(frameIntField(frame, field), call.at)]]),
  };
};

const rewrites: Record<string, Rewrite> = {
  SetBit: bit('Set'),
  ClearBit: bit('Clear'),
  Bitmap: (call) => ({
    name: 'Row',
    positional: [],
    args: new Map([[frameField(frameOf(call)), needed(call, 'row')]]),
  }),
  Range: (call) => {
    const frame = frameOf(call);
    const conditions = without(call, 'frame');
    const [first] = conditions.filter(([, { operator }]) => operator !== '=');
    if (!first) {
      checkNamed(call, ['frame', 'row', 'start', 'end']);
      const row = needed(call, 'row');
      const [from, to] = [needed(call, 'start'), needed(call, 'end')];
      return {
        name: 'Row',
        positional: [],
        args: new Map([
          [frameField(frame), row],
          ['from', from],
          ['to', to],
        ]),
      };
    }
    if (conditions.length > 1) {
      throw new CallError('too many arguments', call.at);
    }
    const [field, condition] = first;
    return { name: 'Row', positional: [], args: new Map([[frameIntField(frame, field), condition]]) };
  },
  SetFieldValue: (call) => {
    const frame = frameOf(call);
    const values = without(call, 'frame', 'col').map(([field, value]) => [frameIntField(frame, field), value] as const);
    return { name: 'SetFieldValue', positional: [needed(call, 'col')], args: new Map(values) };
  },
  SetRowAttrs: (call) => ({
    name: 'SetRowAttrs',
    positional: [{ value: { word: frameField(frameOf(call)) }, at: call.at }, needed(call, 'row')],
    args: new Map(without(call, 'frame', 'row')),
  }),
  SetColumnAttrs: (call) => ({
    name: 'SetColumnAttrs',
    positional: [needed(call, 'col')],
    args: new Map(without(call, 'col')),
  }),
  TopN: (call) => {
    const renamed = { field: 'attrName', filters: 'attrValues' };
    const inverse = call.args.get('inverse');
    // Client libraries send it with every ranking.
    if (inverse && inverse.value !== false) {
      throw new CallError('there are no inverse frames: inverse is false', inverse.at);
    }
    const args = without(call, 'frame', 'inverse').map(
      ([name, value]) => [Object.hasOwn(renamed, name) ? renamed[name as keyof typeof renamed] : name, value] as const,
    );
    return {
      name: 'TopN',
      positional: [{ value: { word: frameField(frameOf(call)) }, at: call.at }],
      args: new Map(args),
    };
  },
  Sum: aggregate,
  Min: aggregate,
  Max: aggregate,
};

/** The arguments of the calls that are rewritten with some of them only; those of the others are checked afterwards. */
const argumentNames: Record<string, readonly string[]> = {
  SetBit: ['frame', 'row', 'col', 'timestamp'],
  ClearBit: ['frame', 'row', 'col'],
  Bitmap: ['frame', 'row'],
  Sum: ['frame', 'field'],
  Min: ['frame', 'field'],
  Max: ['frame', 'field'],
};

const unchanged = new Set(['Union', 'Intersect', 'Difference', 'Xor', 'Count']);

/**
 * A call of the earlier revision in the current one's language.
 *
 * @throws CallError
 */
export function fromEarlier(call: Call): Call {
  const children = call.children.map(fromEarlier);
  const rewrite = Object.hasOwn(rewrites, call.name) ? rewrites[call.name] : undefined;
  if (rewrite) {
    const [unnamed] = call.positional;
    if (unnamed) {
      throw new CallError(`${call.name} of a frame takes no value without a name`, unnamed.at);
    }
    const names = argumentNames[call.name];
    if (names) {
      checkNamed(call, names);
    }
    return { ...rewrite(call), at: call.at, children };
  }
  if (!unchanged.has(call.name)) {
    throw new CallError(`unknown call: ${call.name}`, call.at);
  }
  return { ...call, children };
}
