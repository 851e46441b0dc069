import type { RunCheckpoint, RunRecord, Stage } from '../run';
import type { RunEvent } from './events';
import type { Question, WebhookWait } from './messages';

/** What a run publishes at once: the changes of its record, and the events that go with them. */
export interface RunUpdate {
  runId: string;
  /** 1, 2, 3 …: an update that was applied is not applied again, unless by a workflow task that is repeated. */
  version: number;
  set: Partial<Pick<RunRecord, 'status' | 'waiting' | 'started_at' | 'ended_at' | 'error'>>;
  /** Questions that are new. */
  asked: Question[];
  /** The ids of questions that wait for no answer any more, and of stages that wait for no call. */
  withdrawn: string[];
  /** Webhooks that are new; absent in updates of earlier versions. */
  webhooks?: WebhookWait[];
  /** The checkpoints since the last update, the newest last; their values are those of the record. */
  checkpoints: Checkpoint[];
  /** Stages that are new or have changed. */
  stages: Stage[];
  /** Values that are new or have changed. */
  context: Record<string, unknown>;
  guidance: RunRecord['guidance'];
  /** What it has used, and the runs whose budgets count it; absent where no other run does. */
  used?: { budgets: string[]; tokens: number; cost: number };
  /** An event that is recorded again after a crash has the same `key`. */
  events: { at: string; event: RunEvent; key?: string }[];
}

export type Checkpoint = Omit<RunCheckpoint, 'context_values' | 'id'> & { id: string };

/** What a continued execution takes over; values and guidance are in the record of the run. */
export interface ProgressState {
  status: RunRecord['status'];
  version: number;
  steps: number;
  visits: Record<string, number>;
  completed: string[];
  retries: Record<string, number>;
  outcomes: Record<string, string>;
  logs: string[];
  /** Of questions, and of stages that wait for a call of their webhook. */
  questions: string[];
  guidance: { pieces: number; characters: number };
  /** What prompts have used; absent in states of earlier versions. */
  used?: { tokens: number; cost: number };
  /** Whether it has begun child runs; absent when not. */
  hasChildren?: boolean;
  /** The latest commit of its workspace; absent when there is none. */
  commit?: string;
}

/** The list that a map goes through, and the outputs of its items, null where there is none. Of a tool: its arguments alone. */
export interface MapLists {
  items: unknown[];
  outputs: unknown[];
}

/** The values and guidance of a run, and the lists of its maps, by their stages; those are absent when there are none. */
export type StoredTexts = Pick<RunRecord, 'context' | 'guidance'> & { lists?: Record<string, MapLists> };

/** How a run writes its record, and reads what an earlier execution has left. */
export interface RunStorage {
  save: (update: RunUpdate) => Promise<void>;
  load: (version: number) => Promise<StoredTexts>;
}

export type Pending = Required<Omit<RunUpdate, 'runId' | 'version' | 'used'>>;

export const nothing = (): Pending => ({
  set: {},
  asked: [],
  withdrawn: [],
  webhooks: [],
  checkpoints: [],
  stages: [],
  context: {},
  guidance: [],
  events: [],
});

export const isNothing = ({ set, context, ...lists }: Pending): boolean =>
  Object.keys(set).length + Object.keys(context).length === 0 &&
  Object.values(lists).every((list) => list.length === 0);

export const begun = (): ProgressState => ({
  status: 'starting',
  version: 0,
  steps: 0,
  visits: {},
  completed: [],
  retries: {},
  outcomes: {},
  logs: [],
  questions: [],
  guidance: { pieces: 0, characters: 0 },
});
