import type { RunEvent } from '../../api/client';
import type { IconName } from '../../ui/icon';
import type { Tone } from '../../ui/toast';

interface Base {
  key: number;
  at: string;
}

/** A part of the story of a run. */
export type Part = Base &
  (
    | { kind: 'words'; text: string; by: 'agent' | 'operator'; streaming: boolean }
    | { kind: 'thought'; text: string }
    | {
        kind: 'call';
        name: string;
        input: string;
        output: string;
        state: 'running' | 'completed' | 'failed';
        endedAt?: string;
      }
    | { kind: 'files'; files: { path: string; status: string }[] }
    | { kind: 'progress'; text: string; percent: number | undefined }
    | { kind: 'mark'; text: string; detail: string; tone: Tone; icon: IconName }
  );

export interface Usage {
  inputTokens: number;
  outputTokens: number;
  cost: number;
}

export interface Story {
  parts: readonly Part[];
  usage: Usage;
  /** The newest progress that the agent has reported, in percent. */
  percent: number | undefined;
  model: string | undefined;
}

type Payload = Record<string, unknown>;

const text = (payload: Payload, ...names: string[]): string => {
  for (const name of names) {
    const value = payload[name];
    if (typeof value === 'string' && value !== '') {
      return value;
    }
  }
  return '';
};
const amount = (value: unknown): number => (typeof value === 'number' && Number.isFinite(value) ? value : 0);
const json = (value: unknown): string =>
  value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value, null, 2);

const marks: Partial<Record<RunEvent['kind'], [string, Tone, IconName]>> = {
  'run.queued': ['Queued', 'grey', 'clock'],
  'run.refused': ['Launch refused', 'red', 'blocked'],
  'run.started': ['Agent started', 'blue', 'play'],
  'run.completed': ['Run completed', 'green', 'check'],
  'run.failed': ['Run failed', 'red', 'alert'],
  'run.interrupted': ['Run interrupted', 'red', 'stop'],
  'run.recovered': ['Run recovered', 'blue', 'back'],
  'run.error': ['Error', 'red', 'alert'],
  'conversation.started': ['Conversation started', 'grey', 'chat'],
  'conversation.resumed': ['Conversation resumed', 'grey', 'chat'],
  'conversation.followed-up': ['Conversation followed up', 'grey', 'chat'],
  'conversation.forked': ['Conversation forked', 'grey', 'chat'],
  'conversation.steered': ['Steered', 'grey', 'send'],
  'conversation.interrupted': ['Turn interrupted', 'amber', 'stop'],
  'conversation.compacted': ['Conversation compacted', 'grey', 'chat'],
  'conversation.archived': ['Conversation archived', 'grey', 'chat'],
  'conversation.closed': ['Conversation closed', 'grey', 'chat'],
  'workspace.checkpoint.created': ['Checkpoint', 'grey', 'bookmark'],
  'approval.requested': ['Approval requested', 'amber', 'approvals'],
  'approval.resolved': ['Approval decided', 'grey', 'approvals'],
  'artifact.created': ['Artifact', 'grey', 'attach'],
};

/** What is behind the name of a mark. */
function detailOf(kind: RunEvent['kind'], payload: Payload): string {
  if (kind === 'workspace.checkpoint.created') {
    return `${amount(payload.number)}, ${amount(payload.changedPaths)} changed`;
  }
  if (kind === 'approval.resolved') {
    return text(payload, 'decision', 'status');
  }
  return text(payload, 'summary', 'message', 'reason', 'action', 'title', 'name', 'cause', 'agent');
}

type Call = Extract<Part, { kind: 'call' }>;

/** Folds the events of a run into its story, one after the other. */
export function createStory(): { readonly story: Story; add: (event: RunEvent) => void } {
  const parts: Part[] = [];
  const open = new Map<string, number[]>();
  const usage: Usage = { inputTokens: 0, outputTokens: 0, cost: 0 };
  let percent: number | undefined;
  let model: string | undefined;

  const replaceLast = (part: Part) => {
    parts[parts.length - 1] = part;
  };
  const addWords = ({ sequence: key, receivedAt: at, kind, payload }: RunEvent) => {
    const words = text(payload, 'text', 'message', 'content', 'delta');
    const last = parts.at(-1);
    const streams = kind === 'message.delta';
    const by = kind === 'message.operator' ? 'operator' : 'agent';
    if (last?.kind === 'words' && last.streaming && by === 'agent') {
      // The whole message follows what was streamed of it.
      replaceLast({ ...last, text: streams ? last.text + words : words || last.text, streaming: streams });
    } else if (words !== '') {
      parts.push({ key, at, kind: 'words', text: words, by, streaming: streams });
    }
  };
  const addThought = ({ sequence: key, receivedAt: at, payload }: RunEvent) => {
    const thought = text(payload, 'text', 'message', 'content', 'delta');
    const last = parts.at(-1);
    if (last?.kind === 'thought') {
      replaceLast({ ...last, text: last.text + thought });
    } else {
      parts.push({ key, at, kind: 'thought', text: thought });
    }
  };
  const nameOf = (payload: Payload) => text(payload, 'name', 'title', 'tool', 'command') || 'Tool';
  const callKey = ({ itemId, payload }: RunEvent) => itemId ?? text(payload, 'callId', 'id');
  const startCall = (event: RunEvent) => {
    const { sequence: key, receivedAt: at, payload } = event;
    const id = callKey(event) || nameOf(payload);
    open.set(id, [...(open.get(id) ?? []), parts.length]);
    const input = text(payload, 'detail', 'command') || json(payload.input ?? payload.arguments);
    parts.push({ key, at, kind: 'call', name: nameOf(payload), input, output: '', state: 'running' });
  };
  const endCall = (event: RunEvent) => {
    const { sequence: key, receivedAt: at, payload } = event;
    const id = callKey(event) || nameOf(payload);
    const [index, ...rest] = open.get(id) ?? [];
    open.set(id, rest);
    const failed = payload.status === 'failed' || payload.status === 'error' || amount(payload.exitCode) !== 0;
    const output = text(payload, 'detail', 'output') || json(payload.output ?? payload.result);
    const started: Call = (index === undefined ? undefined : (parts[index] as Call)) ?? {
      ...{ key, at, kind: 'call', name: nameOf(payload), input: '', output: '', state: 'running' as const },
    };
    const ended: Call = { ...started, output, state: failed ? 'failed' : 'completed', endedAt: at };
    if (index === undefined) {
      parts.push(ended);
    } else {
      parts[index] = ended;
    }
  };
  const addFile = ({ sequence: key, receivedAt: at, payload }: RunEvent) => {
    const file = { path: text(payload, 'path'), status: text(payload, 'status') };
    const last = parts.at(-1);
    if (last?.kind === 'files') {
      const files = [...last.files.filter(({ path }) => path !== file.path), file];
      replaceLast({ ...last, files });
    } else {
      parts.push({ key, at, kind: 'files', files: [file] });
    }
  };
  const addUsage = ({ payload }: RunEvent) => {
    // What came over HTTP was counted when it came.
    if (typeof payload.telemetryEventId !== 'string') {
      usage.inputTokens += amount(payload.inputTokens);
      usage.outputTokens += amount(payload.outputTokens);
      usage.cost += amount(payload.cost);
    }
    model = text(payload, 'model') || model;
  };
  const addProgress = ({ sequence: key, receivedAt: at, payload }: RunEvent) => {
    percent = typeof payload.percent === 'number' ? payload.percent : percent;
    const line = text(payload, 'message', 'text', 'summary');
    if (line !== '') {
      parts.push({
        key,
        at,
        kind: 'progress',
        text: line,
        percent: typeof payload.percent === 'number' ? payload.percent : undefined,
      });
    }
  };

  const addMark = ({ sequence: key, receivedAt: at, kind, payload }: RunEvent) => {
    const mark = marks[kind];
    if (mark) {
      const [label, tone, icon] = mark;
      parts.push({ key, at, kind: 'mark', text: label, detail: detailOf(kind, payload), tone, icon });
    }
  };
  const handlers: Partial<Record<RunEvent['kind'], (event: RunEvent) => void>> = {
    'message.assistant': addWords,
    'message.operator': addWords,
    'message.delta': addWords,
    'reasoning.delta': addThought,
    'tool.started': startCall,
    'command.started': startCall,
    'tool.completed': endCall,
    'command.completed': endCall,
    'file.changed': addFile,
    'usage.updated': addUsage,
    progress: addProgress,
  };
  const add = (event: RunEvent) => {
    (handlers[event.kind] ?? addMark)(event);
  };
  return {
    add,
    get story() {
      return { parts, usage: { ...usage }, percent, model };
    },
  };
}
