import { z } from 'zod';
import { slug } from '../common';
import { defaultReviewDelivery } from '../tasks/review';
import { budgetSettings } from './budget';
import { environmentKey } from './tool-server';

const count = (max: number) => z.number().int().min(1).max(max);
const milliseconds = z.number().int().min(100).max(86_400_000);

/** A ceiling of one kind of scope; `null` is none. */
const ceiling = z.strictObject({
  runs: count(1_000_000).nullable(),
  processes: count(1_000_000).nullable(),
  memoryMb: count(1_000_000_000).nullable(),
});
export type Ceiling = z.infer<typeof ceiling>;

/** When the expansion of one execution tree is paused (specification 2, Admission rule 6). */
const fanOutBreaker = z.strictObject({
  enabled: z.boolean(),
  maxDescendants: count(100_000),
  maxDepth: count(1_000),
  maxActiveReservations: count(100_000),
  maxQueuedDescendants: count(100_000),
  pressurePercent: z.number().int().min(1).max(100),
  pressureMinDescendants: count(100_000),
});
export type FanOutBreaker = z.infer<typeof fanOutBreaker>;

/** What the runs of one execution tree may use together; `null` is no limit. */
const treeBudget = z.strictObject({
  tokens: count(1_000_000_000_000).nullable(),
  costUsd: z.number().positive().max(1_000_000_000).nullable(),
});
export type TreeBudget = z.infer<typeof treeBudget>;

/** How the queue's next entry is chosen (specification 2, Admission rule 4). */
const scheduler = z.strictObject({
  levels: count(10),
  defaultPriority: z.number().int().min(0).max(9),
  agingMs: milliseconds,
  maxPromotions: z.number().int().min(0).max(10),
  workspaceBurst: count(1_000),
  evaluationLimit: count(1_000),
});
export type SchedulerSettings = z.infer<typeof scheduler>;

const admission = z.strictObject({
  enabled: z.boolean(),
  leaseMs: milliseconds,
  heartbeatMs: milliseconds,
  retryAfterMs: milliseconds,
  /** What one run requests by default. */
  request: z.strictObject({ runs: count(1_000), processes: count(10_000), memoryMb: count(10_000_000) }),
  /** Each scope of a kind has the ceiling for itself: `provider.runs: 2` is two runs of every provider. */
  limits: z.strictObject({
    global: ceiling,
    workspace: ceiling,
    rootTask: ceiling,
    provider: ceiling,
    host: ceiling,
  }),
  fanOutBreaker,
  treeBudget,
  queue: z.strictObject({
    enabled: z.boolean(),
    globalLimit: count(100_000),
    perWorkspaceLimit: count(100_000),
    leaseMs: milliseconds,
    retryBackoffMs: milliseconds,
    maxRetries: z.number().int().min(0).max(100),
    scheduler,
  }),
});
export type AdmissionSettings = z.infer<typeof admission>;

export const enforcementMode = z.enum(['off', 'warn', 'block']);
export type EnforcementMode = z.infer<typeof enforcementMode>;

/** Whether continuing a run without a person is confirmed always, when there is a risk, or only when it is great. */
export const watcherMode = z.enum(['ask_always', 'ask_on_risk', 'auto']);

/** Continuing runs without a person (specification 2, Evaluation decisions). */
export const watcherSettings = z.strictObject({
  enabled: z.boolean(),
  /** Blocks every continuation, whatever else is set. */
  globalKillSwitch: z.boolean(),
  defaultMode: watcherMode,
  /** Continues runs by itself that end with something left to do and a session; goals continue theirs without this. */
  continueRuns: z.boolean(),
  maxContinuationsPerRun: z.number().int().min(0).max(1_000),
  /** What may be spent in a month, in US dollars. */
  spendCapUsd: z.number().min(0).max(1_000_000),
});
export type WatcherSettings = z.infer<typeof watcherSettings>;

/** How long records are retained; `null` is for ever. Deleted tasks are retained until their `purgeAfter`. */
const retention = z.strictObject({
  /** Days after the last change of an archived task. */
  archivedTaskDays: count(36_500).nullable(),
  /** Days after the end of an attempt; the event of its end stays. */
  runEventDays: count(36_500).nullable(),
  traceDays: count(90),
  /** Hours after the last change of the spool of an agent that outlived its worker. */
  spoolHours: count(8_760),
  /** Days after the end of a run of a workflow. */
  workflowRunDays: count(36_500).nullable(),
});

/** Through which names definitions of tool servers reach credentials of workers, and through no others. */
const toolServers = z.strictObject({
  /** The list is replaced as a whole. */
  credentialScopes: z
    .array(
      z.strictObject({
        name: slug,
        /** The variable of the worker that has the credential; its value is stored nowhere. */
        environmentKey,
        enabled: z.boolean(),
      }),
    )
    .max(100)
    .refine((scopes) => new Set(scopes.map(({ name }) => name)).size === scopes.length, 'must not have a name twice'),
});
export type CredentialScope = z.infer<typeof toolServers>['credentialScopes'][number];

/** Every feature setting (specification 1, `/api/settings/features`). */
export const features = z
  .strictObject({
    /** For clients: the service has no pages of its own. */
    darkMode: z.boolean(),
    /** `false` refuses everything under `/api/chat/squad`; its messages stay. */
    squadChat: z.boolean(),
    /** `false` refuses reported telemetry, drift and statistics; what runs report for their budgets is still counted. */
    analyticsEnabled: z.boolean(),
    enforcement: z.strictObject({
      ceremonyDesignReview: enforcementMode,
      ceremonyFailureRetrospective: enforcementMode,
      /** What a launch makes of instructions, configuration and tools in its workspace that are not trusted. */
      workspaceTrust: enforcementMode,
    }),
    agents: z.strictObject({
      autoCommitOnComplete: z.boolean(),
      /** Whether what an agent leaves uncommitted is committed at the end of its run, where its policy allows commits. */
      commitUncommitted: z.boolean(),
      /** The author of these commits. */
      commitAuthor: z.strictObject({
        name: z
          .string()
          .max(200)
          .regex(/^(?!\s)[^<>\u0000-\u001f\u007f]+(?<!\s)$/),
        email: z
          .string()
          .max(200)
          .regex(/^[^<>\s\u0000-\u001f\u007f]+$/),
      }),
      /** Whether they name the agent in a `Co-authored-by` trailer. */
      commitCoAuthor: z.boolean(),
      /** Whether a success of any run needs a review, as `executionPolicy.review: required` of its task. */
      requireReview: z.boolean(),
      /** How an acceptance delivers a result where neither it nor the task's `executionPolicy.reviewDelivery` states it. */
      reviewDelivery: defaultReviewDelivery,
      timeoutMinutes: count(1_440),
    }),
    watcher: watcherSettings,
    budget: budgetSettings,
    admission,
    retention,
    toolServers,
    /** `false` records no times of the steps of attempts, and so no traces. */
    tracing: z.strictObject({ enabled: z.boolean() }),
  })
  .meta({ id: 'FeatureSettings' });
export type Features = z.infer<typeof features>;

/** Settings that turn routes off; the others change what routes and runs do. */
export type SwitchableFeature = 'squadChat' | 'analyticsEnabled';

/** Any part of an object of settings; omitted parts do not change. */
export type DeepPartial<T> = T extends object ? { [K in keyof T]?: DeepPartial<T[K]> | undefined } : T;
export type FeaturesPatch = DeepPartial<Features>;

/** Every field of the object optional, at every depth; unknown ones are refused at their path. */
function partOf(shape: z.ZodObject): z.ZodObject {
  const fields = Object.entries(shape.shape).map(([name, field]): [string, z.ZodType] => [
    name,
    (field instanceof z.ZodObject ? partOf(field) : (field as z.ZodType)).optional(),
  ]);
  return z.strictObject(Object.fromEntries(fields));
}

/** The body of a patch: any part of the settings, and the revision the caller has seen. */
export const featuresPatch = partOf(features)
  .extend({ expectedRevision: z.number().int().min(0).optional() })
  .meta({ id: 'FeatureSettingsPatch' });
