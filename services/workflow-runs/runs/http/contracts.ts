import { z } from 'zod';
import { modelName } from '../../../../platform/models/model';
import { graphLimits, questionTypes } from '../../graph/graph';
import { text as wellFormed } from '../../http/fields';
import { pageFields } from '../../http/pages';
import { hookEvents, runId, runStatus, stage } from '../run';

/** Text from a caller: well-formed, with no NUL and no other control characters than tab and line breaks. */
export const text = (most: number) =>
  wellFormed(most).regex(/^[^\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]*$/, 'must not contain control characters');

/** Names of values of a run, as its prompts and conditions have them. */
const varName = z
  .string()
  .regex(
    /^[\p{L}_][\p{L}\p{M}\p{N}_-]{0,63}$/u,
    'must be letters, digits, - and _, at most 64, and not begin with a digit',
  )
  .refine((name) => !(name in Object.prototype) && name !== 'prototype', 'is a name that every object has');
const maxVars = { count: 100, characters: 100_000 };
export const runVars = z
  .record(varName, z.union([text(8_000), z.literal(''), z.number(), z.boolean()]))
  .refine((vars) => Object.keys(vars).length <= maxVars.count, `must have at most ${maxVars.count} values`)
  .refine(
    (vars) => JSON.stringify(vars).length <= maxVars.characters,
    `must have at most ${maxVars.characters} characters altogether`,
  )
  .meta({ id: 'RunVars' });

/** The model of prompts that name none, and those that are asked when it does not answer. */
const llm = z.strictObject({
  model: modelName,
  /** That of the model, if it is given. */
  provider: z.string().min(1).max(200).optional(),
  fallbacks: z.array(modelName).min(1).max(10).optional(),
});

/** A program and its arguments, none in a shell. */
export const argv = z.array(text(8_000)).min(1).max(100);

/** As JSON: a run has them in its input. */
const maxHooks = 100_000;
/** A command that runs in the workspace each time something happens. */
const hook = z
  .strictObject({
    name: text(100).optional(),
    event: z.enum(hookEvents),
    command: argv,
    /** The nodes whose stages it is for; all that do work when absent. */
    nodes: z.array(text(64)).min(1).max(200).optional(),
    /** Whether the stage or run fails when it fails; by its event when absent: those at a start are blocking. */
    blocking: z.boolean().optional(),
    timeout_ms: z.number().int().min(1_000).max(3_600_000).optional(),
  })
  .refine(({ event, nodes }) => nodes === undefined || event.startsWith('stage_'), {
    path: ['nodes'],
    message: 'is for the events of stages',
  })
  .refine(({ event, blocking }) => blocking !== true || !event.endsWith('_failed'), {
    path: ['blocking'],
    message: 'must not be true: what has failed cannot fail again',
  })
  .meta({ id: 'RunHook' });

export const runCreate = z
  .strictObject({
    dot_source: wellFormed(graphLimits.sourceCharacters),
    vars: runVars.optional(),
    /** What the workspace begins with: a repository by its name, at a branch, tag or commit (its HEAD when absent). */
    repository: z.strictObject({ name: text(64), base: text(200).optional() }).optional(),
    /** Programs with their arguments that run in the workspace before the first node, none in a shell. */
    setup: z
      .strictObject({
        commands: z.array(argv).min(1).max(20),
        timeout_ms: z.number().int().min(1_000).max(86_400_000).optional(),
      })
      .optional(),
    /** Commands that run in the workspace when the run or one of its stages starts or ends. */
    hooks: z
      .array(hook)
      .min(1)
      .max(20)
      .refine(
        (hooks) => JSON.stringify(hooks).length <= maxHooks,
        `must have at most ${maxHooks} characters altogether`,
      )
      .optional(),
    llm: llm.optional(),
    /** The preset of commands that name none. */
    sandbox: text(64).optional(),
    /** Where in the workspace commands are started that set no directory. */
    directory: text(500).optional(),
  })
  .meta({ id: 'RunCreate' });
export type RunCreate = z.infer<typeof runCreate>;

const noWorkspace = z.null().meta({ description: 'Runs have no workspace' });

/** A run as its callers see it. */
export const runAnswer = z
  .object({
    id: runId,
    status: runStatus,
    title: z.string(),
    workflow: z.object({ name: z.string(), slug: z.string() }),
    /** Of a child run: the run and stage that it belongs to, and the run at the top of the tree. */
    parent: z.object({ run_id: runId, stage_id: z.string(), root: runId }).optional(),
    error: z.object({ message: z.string() }).optional(),
    /** 1 for the next one; only while it is queued. */
    queue_position: z.number().int().optional(),
    created_at: z.string(),
    started_at: z.string().optional(),
    ended_at: z.string().optional(),
    /** Since its start, until its end. */
    timings: z.object({ elapsed_secs: z.number() }).optional(),
    /** The first of its open questions. */
    question: z.object({ text: z.string() }).optional(),
    repository: z
      .object({ name: z.string(), base: z.string(), commit: z.string() })
      .nullable()
      .meta({ description: 'What its workspace began with' }),
    pull_request: noWorkspace,
    sandbox: noWorkspace,
  })
  .meta({ id: 'RunStatus' });
export type RunAnswer = z.infer<typeof runAnswer>;

export const runListQuery = z.strictObject({
  ...pageFields,
  status: runStatus.optional(),
  workflow: z.string().max(100).optional(),
  /** Only the child runs of this run. */
  parent: runId.optional(),
});

export const stageAnswer = stage.meta({ id: 'Stage' });

export const toolUse = z.object({
  id: z.string(),
  tool_name: z.string(),
  input: z.string().meta({ description: 'JSON' }),
  result: z.string().meta({ description: 'JSON' }),
  is_error: z.boolean(),
  duration_ms: z.number().int().optional(),
});
export const turn = z
  .union([
    z.object({ kind: z.enum(['system', 'user', 'assistant']), content: z.string() }),
    z.object({ kind: z.literal('tool'), tools: z.array(toolUse) }),
  ])
  .meta({ id: 'Turn' });

export const question = z
  .object({
    id: z.string(),
    text: z.string(),
    question_type: z.enum(questionTypes),
    options: z.array(z.object({ key: z.string(), label: z.string() })),
    allow_freeform: z.boolean(),
  })
  .meta({ id: 'Question' });

export const answerInput = z
  .strictObject({
    value: text(10_000).optional(),
    selected_option_key: z.string().max(64).optional(),
    selected_option_keys: z.array(z.string().max(64)).max(100).optional(),
  })
  .meta({ id: 'AnswerInput' });
export type AnswerInput = z.infer<typeof answerInput>;

export const steerInput = z
  .strictObject({
    location: z.strictObject({ file: text(1_000), line: z.number().int().min(1).optional() }).optional(),
    guidance: text(10_000),
  })
  .meta({ id: 'SteerInput' });

/** A file before and after a run; empty where it was not there. */
const fileText = z.object({ name: z.string(), contents: z.string() });
const omitted = z
  .enum(['binary', 'too-large', 'no-file', 'gone'])
  .optional()
  .meta({ description: 'Why its contents are not shown' });
export const changedFile = z
  .object({ old_file: fileText, new_file: fileText.extend({ omitted }) })
  .meta({ id: 'ChangedFile' });

export const configuration = z
  .object({
    version: z.literal(1),
    goal: z.string().optional(),
    graph: z.string(),
    directory: z.string().optional(),
    llm: z.object({ model: z.string(), provider: z.string(), fallbacks: z.array(z.string()) }).optional(),
    sandbox: z.string().optional(),
    vars: runVars.optional(),
    setup: z.object({ commands: z.array(z.array(z.string())), timeout_ms: z.number().int().optional() }).optional(),
    hooks: z.array(hook).optional(),
  })
  .meta({ id: 'RunConfiguration' });

export const workflowItem = z
  .object({
    name: z.string(),
    slug: z.string(),
    filename: z.string(),
    last_run: z.object({ id: runId, ran_at: z.string() }).optional(),
    schedule: z.null().meta({ description: 'Workflows are started by callers' }),
  })
  .meta({ id: 'Workflow' });

export const workflowDetail = workflowItem
  .extend({
    description: z.string().nullable().meta({ description: 'The goal of its latest graph' }),
    config: z.null().meta({ description: 'All of a workflow is in its graph' }),
    graph: z.string(),
  })
  .meta({ id: 'WorkflowDetail' });
