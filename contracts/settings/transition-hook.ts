import { z } from 'zod';
import { slug, taskId, text } from '../common';
import { taskStatus } from '../tasks/task';
import { webUrl } from '../url';

/** What a task must have before its status changes. */
export const transitionGate = z
  .enum([
    'require-agent',
    'require-plan',
    'require-verification-complete',
    'require-time-tracked',
    'require-closing-comment',
    'require-subtasks-complete',
    'require-blocker-reason',
  ])
  .meta({ id: 'TransitionGate' });
export type TransitionGate = z.infer<typeof transitionGate>;

/** The actions that are part of the change itself. */
const timerAction = z.enum(['auto-start-timer', 'auto-stop-timer']);

/** The actions after it that need nothing but their name. */
const plainAction = z.enum(['prompt-lessons-learned', 'log-activity']);

const notification = {
  type: z.literal('send-notification'),
  message: text(1000, 1).optional(),
  targetAgent: text(100, 1).optional(),
};

/** What follows a change of a status, as it is stored: an URL accepted earlier is returned, whatever the rules are now. */
export const transitionAction = z
  .discriminatedUnion('type', [
    z.object({ type: timerAction }),
    z.object({ type: plainAction }),
    z.object({ type: z.literal('send-webhook'), url: z.string() }),
    z.object(notification),
  ])
  .meta({ id: 'TransitionAction' });
export type TransitionAction = z.infer<typeof transitionAction>;

/** An action that follows a change and is no part of it: a message or a record. */
export type LaterAction = Exclude<TransitionAction, { type: z.infer<typeof timerAction> }>;

const namedActions = z.enum([...timerAction.options, ...plainAction.options, 'send-notification']);

/** An action as callers send it; one that needs nothing else may be sent as its name. */
const sentAction = z.union(
  [
    namedActions.transform((type) => ({ type })),
    z.discriminatedUnion('type', [
      z.strictObject({ type: timerAction }),
      z.strictObject({ type: plainAction }),
      z.strictObject({ type: z.literal('send-webhook'), url: webUrl }),
      z.strictObject(notification),
    ]),
  ],
  {
    error: `must be the name of an action (${namedActions.options.join(', ')}), or {type, ...}; send-webhook needs a url`,
  },
);

/** A gate as callers send it: its name, or an object that has it as its type. */
const sentGate = z.union([transitionGate, z.strictObject({ type: transitionGate }).transform(({ type }) => type)], {
  error: `must be one of ${transitionGate.options.join(', ')}`,
});

/** A status, several, or any. */
export const statusSelector = z.union([taskStatus, z.array(taskStatus).min(1).max(10), z.literal('*')]);
export type StatusSelector = z.infer<typeof statusSelector>;

const ruleFields = {
  name: text(200, 1),
  enabled: z.boolean(),
  from: statusSelector,
  to: statusSelector,
  /** Of which projects and types the tasks are that the rule is about; of all when absent. */
  projects: z.array(text(200, 1)).min(1).max(50).optional(),
  taskTypes: z.array(text(50, 1)).min(1).max(50).optional(),
};

/** What a change of a task's status needs, and what follows it. */
export const transitionRule = z
  .object({ ...ruleFields, id: slug, gates: z.array(transitionGate), actions: z.array(transitionAction) })
  .meta({ id: 'TransitionRule' });
export type TransitionRule = z.infer<typeof transitionRule>;

const sentGates = z.array(sentGate).max(20);
const sentActions = z.array(sentAction).max(20);
const sentRule = z.strictObject({
  ...ruleFields,
  enabled: ruleFields.enabled.default(true),
  gates: sentGates.default([]),
  actions: sentActions.default([]),
});

/** How many rules there may be. */
export const maxTransitionRules = 100;

/** The rules for changes of a status; `defaultGates` and `defaultActions` are those of every change. */
export const transitionHooks = z
  .object({
    enabled: z.boolean(),
    rules: z.array(transitionRule),
    defaultGates: z.array(transitionGate),
    defaultActions: z.array(transitionAction),
  })
  .meta({ id: 'TransitionHooks' });
export type TransitionHooks = z.infer<typeof transitionHooks>;

const expectedRevision = z.number().int().min(0).optional();

const sentRules = z.array(sentRule.extend({ id: slug })).max(maxTransitionRules);

export const transitionHooksWrite = z
  .strictObject({
    enabled: z.boolean(),
    rules: sentRules,
    defaultGates: sentGates.default([]),
    defaultActions: sentActions.default([]),
    expectedRevision,
  })
  .meta({ id: 'TransitionHooksWrite' });

export const transitionHooksPatch = z
  .strictObject({
    enabled: z.boolean().optional(),
    rules: sentRules.optional(),
    defaultGates: sentGates.optional(),
    defaultActions: sentActions.optional(),
    expectedRevision,
  })
  .meta({ id: 'TransitionHooksPatch' });

/** A new rule; an id is made where none is named. */
export const transitionRuleCreate = sentRule
  .extend({ id: slug.optional(), expectedRevision })
  .meta({ id: 'TransitionRuleCreate' });

/** A whole rule; `id` may be sent back as it was read. */
export const transitionRuleWrite = sentRule
  .extend({ id: slug.optional(), expectedRevision })
  .meta({ id: 'TransitionRuleWrite' });

export const transitionQuestion = z.strictObject({ taskId, toStatus: taskStatus }).meta({ id: 'TransitionQuestion' });

/** Whether a gate lets a change pass, and which rules have it; `default` is the default gates. */
export const gateResult = z
  .object({
    gate: transitionGate,
    passed: z.boolean(),
    rules: z.array(z.string()),
    /** What is missing, and what to do. */
    message: z.string().optional(),
  })
  .meta({ id: 'GateResult' });
export type GateResult = z.infer<typeof gateResult>;

export const transitionVerdict = z
  .object({
    allowed: z.boolean(),
    gateResults: z.array(gateResult),
    failedGates: z.array(transitionGate),
    errorMessage: z.string().optional(),
  })
  .meta({ id: 'TransitionVerdict' });
export type TransitionVerdict = z.infer<typeof transitionVerdict>;
