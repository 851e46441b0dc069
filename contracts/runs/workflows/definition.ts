import { z } from 'zod';
import { filePath, phase, revision, slug, text, timestamp } from '../../common';
import { docPath } from '../../knowledge/doc';
import { listPage } from '../../query';
import { cronExpression, timezoneName } from '../../schedule-times';

/** How much one definition may have. `characters` are those of its JSON, and of the YAML that it is read from. */
export const definitionLimits = { characters: 400_000, definitions: 500, versions: 100, listItems: 50 };

const reserved = ['runs', 'recipes', 'authoring', 'launch-recommendations'];

export const workflowId = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,63}$/, 'lower-case letters, digits and dashes, at most 64; starts with a letter')
  .refine((id) => !reserved.includes(id), `must be none of ${reserved.join(', ')}, which are paths`)
  .meta({ id: 'WorkflowId' });

export const stepId = z
  .string()
  .regex(/^[a-z][a-z0-9_-]{0,39}$/, 'lower-case letters, digits, dash and underscore, at most 40; starts with a letter')
  .refine((id) => id !== 'constructor', 'must not be constructor');

const variableName = z
  .string()
  .regex(/^[a-z][a-z0-9_]{0,39}$/, 'lower-case letters, digits and underscore, at most 40; starts with a letter')
  .refine(
    (name) => !/^(?:goal|outcome|steps|constructor|task_.*|last_.*|.*_(?:output|answer|exit_code))$/.test(name),
    'is a value that runs set themselves',
  );

const scalar = z.union([text(8_000), z.number(), z.boolean()]);
const variable = z.union([scalar, z.array(text(2_000)).max(definitionLimits.listItems)]);
const atMost = (entries: object): boolean => Object.keys(entries).length <= 50;

/** Values by name. A list is what a loop runs over. */
export const workflowVariables = z
  .record(variableName, variable)
  .refine(atMost, 'has at most 50 entries')
  .meta({ id: 'WorkflowVariables' });
export type WorkflowVariables = z.infer<typeof workflowVariables>;

/** An agent of the board under a name of the workflow. */
const workflowAgent = z.strictObject({
  id: slug,
  name: text(100, 1).optional(),
  description: text(1_000).optional(),
  /** The configured agent, `auto` for routing; the id when absent. */
  agent: slug.optional(),
  model: text(200, 1).optional(),
});

/** What follows when a step has failed for good: the run fails, passes over the step, or asks a person. */
const escalation = z.enum(['fail', 'skip', 'human']);

/** Durations of steps are in seconds, at most thirty days. */
const seconds = z.number().int().min(1).max(2_592_000);
/** `steps.plan.output contains READY && count > 2` */
const condition = text(2_000, 1);

const onFail = z.strictObject({
  /** How often the step is launched again. */
  retry: z.number().int().min(0).max(10).optional(),
  /** The pause before the first retry, which doubles with each. */
  retry_delay_ms: z.number().int().min(1).max(600_000).optional(),
  /** The step that the run continues with, as long as reroutes remain. */
  retry_step: stepId.optional(),
  max_reroutes: z.number().int().min(1).max(100).optional(),
  escalate_to: escalation.optional(),
  /** Instead of `escalate_to`, once no reroute remains. */
  on_exhausted: escalation.optional(),
});

const named = { id: stepId, name: text(150, 1).optional() };

/** How much a schema of an output may have, as JSON in characters. */
const maxSchema = 10_000;

const outputSchema = z
  .record(z.string().max(200), z.json())
  .refine((schema) => JSON.stringify(schema).length <= maxSchema, `must not exceed ${maxSchema} characters`);

/** By which steps name a schema of their workflow. */
const schemaName = z
  .string()
  .regex(
    /^[a-z][a-z0-9_-]{0,39}$/,
    'lower-case letters, digits, dash and underscore, at most 40; starts with a letter',
  );

/** What every step that launches an agent has. */
const launching = {
  agent: slug,
  phase: phase.optional(),
  /** `fresh` (when absent): a session of its own. `continue`: the one that the agent of the step has left last in the run. */
  session: z.strictObject({ mode: z.enum(['fresh', 'continue']) }).optional(),
  /** The text that its agent works on; `{{name}}` and `{{steps.<id>.output}}` stand for values. */
  input: text(20_000).optional(),
  /** The file that its agent has to write, and the JSON schema that its summary has to fit, or its name in `schemas`. */
  output: z
    .strictObject({ file: filePath.max(500).optional(), schema: z.union([schemaName, outputSchema]).optional() })
    .refine(({ file, schema }) => file !== undefined || schema !== undefined, 'needs a file or a schema')
    .optional(),
  acceptance_criteria: z.array(text(1_000, 1)).max(20).optional(),
  on_fail: onFail.optional(),
  /** How long its agent may take once it runs. */
  timeout: seconds.optional(),
};

const conditional = {
  condition: condition.optional(),
  /** What follows when the condition does not hold; `skip` when absent. */
  on_false: z.enum(['skip', 'fail']).optional(),
};

const agentStep = z.strictObject({ type: z.literal('agent'), ...named, ...launching, ...conditional });

const loopStep = z.strictObject({
  type: z.literal('loop'),
  ...named,
  ...launching,
  ...conditional,
  loop: z.strictObject({
    /** The list variable whose items it runs for, one after the other; without it, it repeats. */
    over: variableName.optional(),
    /** The name of the item in `input`; `item` when absent. */
    item_var: variableName.optional(),
    /** With `over`: `all_done` (when absent) or `first_success`. Without: the condition that ends it. */
    completion: condition.optional(),
    max_iterations: z.number().int().min(1).max(definitionLimits.listItems).optional(),
    /** With `over`: whether the next item follows a failed one. */
    continue_on_error: z.boolean().optional(),
  }),
});

const gateStep = z.strictObject({
  type: z.literal('gate'),
  ...named,
  /** What a person is asked. */
  input: text(4_000).optional(),
  /** With it the gate opens by itself; without it a person approves or rejects. */
  condition: condition.optional(),
  /** With a condition that does not hold; `fail` when absent. */
  on_false: z.enum(['fail', 'human']).optional(),
  /** How long a person may take; the run fails then. */
  timeout: seconds.optional(),
});

const parallelStep = z.strictObject({
  type: z.literal('parallel'),
  ...named,
  ...conditional,
  parallel: z.strictObject({
    steps: z
      .array(z.strictObject({ type: z.literal('agent').optional(), ...named, ...launching }))
      .min(2)
      .max(20),
    /** The run continues when all have ended (when absent), or once one has succeeded, and the others are stopped. */
    completion: z.enum(['all', 'any']).optional(),
    /** Whether the others are stopped once one has failed for good. */
    fail_fast: z.boolean().optional(),
  }),
  on_fail: z.strictObject({ escalate_to: escalation.optional() }).optional(),
});

/** How much the arguments of a tool step may have, as JSON in characters. */
const maxArguments = 20_000;

const toolStep = z.strictObject({
  type: z.literal('tool'),
  ...named,
  ...conditional,
  /** The id of a tool server of the board, and the name that it has for the tool. */
  server: slug,
  tool: text(256, 1),
  /** What it is called with: in its texts `{{name}}` stands for a value, and is it where the text is nothing else. */
  arguments: z
    .record(z.string().max(200), z.json())
    .refine((values) => JSON.stringify(values).length <= maxArguments, `must not exceed ${maxArguments} characters`)
    .optional(),
  /** Whether it may be called again although it was called before: `on_fail.retry` repeats only what was not sent otherwise. */
  idempotent: z.boolean().optional(),
  on_fail: onFail.optional(),
  /** How long the step waits, for an approval too. */
  timeout: seconds.optional(),
});

export const workflowStep = z
  .discriminatedUnion('type', [agentStep, loopStep, gateStep, parallelStep, toolStep])
  .meta({ id: 'WorkflowStep' });
export type WorkflowStep = z.infer<typeof workflowStep>;
export type LaunchingStep = z.infer<typeof agentStep> | z.infer<typeof loopStep> | ParallelBranch;
export type ParallelBranch = z.infer<typeof parallelStep>['parallel']['steps'][number];
export type LoopStep = z.infer<typeof loopStep>;
export type GateStep = z.infer<typeof gateStep>;
export type ToolStep = z.infer<typeof toolStep>;
export type ParallelStep = z.infer<typeof parallelStep>;

/** When runs are started by themselves. A time is passed over while a run of the workflow has not ended. */
const workflowSchedule = z.strictObject({
  /** Five fields, or a name for them: no seconds. */
  cron: cronExpression,
  /** An IANA name; `UTC` when absent. */
  timezone: timezoneName.optional(),
  /** A schedule that is not enabled starts nothing. */
  enabled: z.boolean().optional(),
});
export type WorkflowSchedule = z.infer<typeof workflowSchedule>;

/** What is written: a text with values; the output of the last step when absent. */
const content = text(20_000, 1).optional();

/** Where the result of a run that reaches its end is written. */
const outputTarget = z.discriminatedUnion('type', [
  /** A comment on the task of the run. */
  z.strictObject({ type: z.literal('comment'), content }),
  /** A document of the workspace, which is replaced. */
  z.strictObject({ type: z.literal('document'), path: docPath, content }),
]);

export type OutputTarget = z.infer<typeof outputTarget>;

const definitionFields = {
  name: text(150, 1),
  description: text(5_000).optional(),
  /** Grows with every change. */
  version: z.number().int().min(1).max(1_000_000).optional(),
  /** `timeout` is of the whole run, waits included. */
  config: z.strictObject({ timeout: seconds.optional() }).optional(),
  schedule: workflowSchedule.optional(),
  agents: z.array(workflowAgent).min(1).max(20),
  steps: z.array(workflowStep).min(1).max(50),
  variables: workflowVariables.optional(),
  outputTargets: z.array(outputTarget).min(1).max(10).optional(),
  /** JSON schemas that outputs of steps name. */
  schemas: z
    .record(schemaName, outputSchema)
    .refine((schemas) => Object.keys(schemas).length <= 20, 'has at most 20 entries')
    .optional(),
};

/** A workflow as it is written, in JSON or YAML. */
export const workflowDefinition = z
  .strictObject({ id: workflowId, ...definitionFields })
  .meta({ id: 'WorkflowDefinition' });
export type WorkflowDefinition = z.infer<typeof workflowDefinition>;

export const workflowReplacement = z
  .strictObject({ id: workflowId.optional(), ...definitionFields, expectedRevision: revision.optional() })
  .meta({ id: 'WorkflowReplacement' });

/** Who may do what with one workflow, by the names that the audit log has: `user:ada`, `agent:worker`. */
const actors = z.array(text(200, 1)).max(100);
export const workflowAccess = z
  .object({
    owner: text(200, 1),
    editors: actors,
    viewers: actors,
    executors: actors,
    /** Whether everyone may see and run it who may see and run workflows at all. */
    public: z.boolean(),
  })
  .meta({ id: 'WorkflowAccess' });
export type WorkflowAccess = z.infer<typeof workflowAccess>;

export const workflowAccessChange = z
  .strictObject({ ...workflowAccess.partial().shape, expectedRevision: revision.optional() })
  .meta({ id: 'WorkflowAccessChange' });

export const workflowRights = z.object({ view: z.boolean(), edit: z.boolean(), execute: z.boolean() });
export type WorkflowRights = z.infer<typeof workflowRights>;

export const workflowAccessResponse = z
  .object({ workflowId, access: workflowAccess, rights: workflowRights, revision })
  .meta({ id: 'WorkflowAccessResponse' });

export const workflow = z
  .object({
    ...workflowDefinition.shape,
    version: z.number().int(),
    revision,
    createdAt: timestamp,
    updatedAt: timestamp,
    updatedBy: z.string(),
  })
  .meta({ id: 'Workflow' });
export type Workflow = z.infer<typeof workflow>;

export const workflowSummary = z
  .object({
    id: workflowId,
    name: z.string(),
    description: z.string().optional(),
    version: z.number().int(),
    steps: z.number().int(),
    rights: workflowRights,
    revision,
    updatedAt: timestamp,
  })
  .meta({ id: 'WorkflowSummary' });

export const workflowVersion = z
  .object({ version: z.number().int(), at: timestamp, by: z.string(), definition: workflowDefinition })
  .meta({ id: 'WorkflowVersion' });
export type WorkflowVersion = z.infer<typeof workflowVersion>;

export const workflowQuery = z.strictObject(listPage(100, 500));
