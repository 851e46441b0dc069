import { z } from 'zod';
import type { TraceContext } from '../../../platform/tracing/spans';
import type { RunDefaults } from './defaults';
import type { Question, WebhookWait } from './execution/messages';
import type { TaskBase } from './task-base';

/** A ULID: sorts by when it was made. */
export const runId = z.string().regex(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/, 'must be a ULID');

export const runStatus = z.enum(['queued', 'starting', 'running', 'paused', 'completed', 'failed', 'cancelled']);
export type RunStatus = z.infer<typeof runStatus>;

export const activeStatuses: readonly RunStatus[] = ['starting', 'running', 'paused'];
export const endedStatuses: readonly RunStatus[] = ['completed', 'failed', 'cancelled'];
export const hasEnded = (status: RunStatus): boolean => endedStatuses.includes(status);

export const stageStatus = z.enum(['pending', 'running', 'completed', 'failed', 'cancelled']);

/** Tokens, and what they cost in USD at the prices of the catalog. */
export const usage = z.object({
  input_tokens: z.number().int(),
  output_tokens: z.number().int(),
  cache_read_tokens: z.number().int().optional().meta({
    description: 'Of the input tokens, those that the provider has read from its cache; absent without any',
  }),
  reasoning_tokens: z
    .number()
    .int()
    .optional()
    .meta({ description: 'Of the output tokens, those of reasoning; absent without any' }),
  cost: z.number().nullable().meta({ description: 'null where the catalog has no price of them' }),
});
export type Usage = z.infer<typeof usage>;

/** What happens in a run that its hooks are for. */
export const hookEvents = [
  ...(['run_start', 'run_complete', 'run_failed'] as const),
  ...(['stage_start', 'stage_complete', 'stage_failed'] as const),
] as const;
export type HookEvent = (typeof hookEvents)[number];

/** One visit of one node of the graph. */
export const stage = z.object({
  /** The node's name, and `.2` and so on for later visits. */
  id: z.string(),
  /** The node's label. */
  name: z.string(),
  kind: z.string(),
  /** Of an item of a map: the stage of the map. Of a hook: the stage that it was run at. */
  parent: z.string().optional(),
  /** Of a hook: the event that it was run at. */
  hook: z.enum(hookEvents).optional(),
  /** The child run that it has started last. */
  child_run: z.string().optional(),
  /** The attempt of the board that it has launched last, and its task. */
  agent: z.object({ task_id: z.string(), attempt_id: z.string() }).optional(),
  /** The approval of the board that its call of a tool waits for. */
  tool: z.object({ approval_id: z.string() }).optional(),
  status: stageStatus,
  duration_secs: z.number().optional(),
  dot_id: z.string().optional(),
  started_at: z.string().optional(),
  ended_at: z.string().optional(),
  /** How often it was retried. */
  retries: z.number().int(),
  model: z.string().optional(),
  usage: usage.optional(),
  /** The beginning of its answer. */
  notes: z.string().optional(),
  /** Why its answer ended before the model was done, like `max_tokens`; absent otherwise. */
  stop_reason: z.string().optional(),
  failure_reason: z.string().optional(),
  /** Files of the workspace that it has changed, of a command; at most 100. */
  files_touched: z.array(z.string()).optional(),
});
export type Stage = z.infer<typeof stage>;

/** The checkpoint of a run between two stages. */
export const runCheckpoint = z
  .object({
    /** By which it is selected: its node and how often that was visited; absent in those of earlier versions. */
    id: z.string().optional(),
    timestamp: z.string(),
    current_node: z.string(),
    completed_nodes: z.array(z.string()),
    node_retries: z.record(z.string(), z.number().int()),
    context_values: z.record(z.string(), z.unknown()),
    logs: z.array(z.string()),
    node_outcomes: z.record(z.string(), z.string()).optional(),
    next_node_id: z.string().optional(),
    /** Of the workspace, after the last command that ended. */
    git_commit_sha: z.string().optional(),
  })
  .meta({ id: 'RunCheckpoint' });
export type RunCheckpoint = z.infer<typeof runCheckpoint>;

/** How well a run went, from best to worst: see `retros/retro.ts`. */
export const smoothness = z.enum(['effortless', 'smooth', 'bumpy', 'struggled', 'failed']);
export type Smoothness = z.infer<typeof smoothness>;

/** Values that a run begins with, by name. */
export type RunVars = Record<string, string | number | boolean>;

/** Commands that run in the workspace before the first node. */
export interface RunSetup {
  /** Programs with their arguments. */
  commands: string[][];
  /** How long each may take, in milliseconds. */
  timeout_ms?: number;
  /** Their preset, and where they are started, as defaults of the run. */
  sandbox?: string;
  directory?: string;
}

/** A command that runs in the workspace each time something happens. */
export interface RunHook {
  name?: string;
  event: HookEvent;
  /** A program with its arguments. */
  command: string[];
  /** The nodes whose stages it is for; all that do work when absent. */
  nodes?: string[];
  /** Whether what it is run at fails when it fails; by its event when absent. */
  blocking?: boolean;
  /** How long it may take, in milliseconds. */
  timeout_ms?: number;
}

/** Hooks with their preset, and where they are started, as defaults of the run. */
export interface RunHooks {
  list: RunHook[];
  sandbox?: string;
  directory?: string;
}

/** Tokens and money that the runs of a tree may use together, beginning at one of them. */
export interface TreeBudget {
  run_id: string;
  tokens?: number;
  /** In USD. */
  cost?: number;
}

/** Where a child run belongs. */
export interface RunParent {
  run_id: string;
  stage_id: string;
  /** The run at the top of the tree. */
  root: string;
  /** 1 for a child of the root. */
  depth: number;
  /** Budgets of the runs above it that have some. */
  budgets: TreeBudget[];
}

/** A run as it is stored: what callers read. What it does next is its workflow's to know. */
export interface RunRecord {
  /** A ULID. */
  _id: string;
  status: RunStatus;
  /** Absent for a run that a caller has started. */
  parent?: RunParent;
  /** Whether it is not started because its parent is paused. */
  held?: boolean;
  /** Whether all that is under way waits for people or for a time; absent until it does for the first time. */
  waiting?: boolean;
  /** The graph's name and what it is called in URLs. */
  workflow: { name: string; slug: string };
  title: string;
  goal?: string;
  dot_source: string;
  /** Values it began with; absent when it has none. */
  vars?: RunVars;
  /** What its workspace begins with; absent where that is empty. */
  repository?: { name: string; base: string; commit: string };
  setup?: RunSetup;
  hooks?: RunHook[];
  /** What nodes have that do not set it themselves; absent where nothing was requested. */
  defaults?: RunDefaults;
  created_by: string;
  created_at: string;
  /** The span that it was asked for in; absent where none was recorded. */
  trace?: TraceContext;
  started_at?: string;
  ended_at?: string;
  error?: { message: string };
  /** The newest ones, and those under way; of most runs all: see `stage-archive.ts`. */
  stages: Stage[];
  /** How many chunks of stages have left the record. */
  archived?: number;
  context: Record<string, unknown>;
  /** The questions it waits for people to answer. */
  questions?: Question[];
  /** The stages that wait for a call of their webhook. */
  webhooks?: WebhookWait[];
  checkpoint?: RunCheckpoint;
  /** Written by the run's users; part of later prompts. */
  guidance: { id?: string; text: string; file?: string; line?: number; at: string }[];
  /** When it ended and its retro was known: absent until then. Lists of retros are found by it. */
  retro_at?: string;
  smoothness?: Smoothness;
  /** Whether what it used is in the totals over all runs; absent until it has ended. */
  usage_counted?: boolean;
  /** The last version its workflow has reported; 0 before it has begun. */
  revision: number;
  /** What is undone when the last workflow task is repeated; absent before the first, and once the run was ended without its workflow. */
  base?: TaskBase;
}
