import { z } from 'zod';
import { revision, slug, taskId, text, timestamp } from '../common';
import { capabilityState } from '../runs/launch/contract';
import { hostSandbox } from '../runs/launch/host-sandbox';
import { launchRequest } from '../runs/launch/launch';
import { task, taskPriority } from '../tasks/task';

/** One value, or a list of which one has to be it. */
const oneOrSeveral = <T extends z.ZodType>(value: T) => z.union([value, z.array(value).min(1).max(100)]);

const taskType = task.shape.type.unwrap();
const project = text(200, 1);
const subtaskCount = z.number().int().min(0).max(10_000);

/** What work a rule is for. An absent field matches everything. */
export const routingMatch = z.strictObject({
  type: oneOrSeveral(taskType).optional(),
  priority: oneOrSeveral(taskPriority).optional(),
  project: oneOrSeveral(project).optional(),
  minSubtasks: subtaskCount.optional(),
});

export const routingRule = z
  .strictObject({
    id: slug,
    name: text(100, 1),
    match: routingMatch,
    agent: slug,
    /** The model that the agent's runtime has to offer; the agent's own when absent. */
    model: text(200, 1).optional(),
    /** Used when `agent` is not available. */
    fallback: slug.optional(),
    enabled: z.boolean().default(true),
  })
  .meta({ id: 'RoutingRule' });
export type RoutingRule = z.infer<typeof routingRule>;

const distinct = (items: { id: string }[]) => new Set(items.map(({ id }) => id)).size === items.length;

/** Which agent takes work that names none (specification 2, Routing configuration). */
export const routingConfiguration = z
  .strictObject({
    enabled: z.boolean(),
    /** Evaluated in this order; the first that matches decides. */
    rules: z.array(routingRule).max(200).refine(distinct, 'two rules have the same id'),
    /** Used when no rule matches; null for the default of the configured agents. */
    defaultAgent: slug.nullable(),
    /** Whether another agent may be used when the one a rule names is not available. */
    fallbackOnFailure: z.boolean(),
    maxRetries: z.number().int().min(0).max(3),
  })
  .meta({ id: 'RoutingConfiguration' });
export type RoutingConfiguration = z.infer<typeof routingConfiguration>;

export const routingUpdate = routingConfiguration
  .safeExtend({ expectedRevision: revision.or(z.literal(0)).optional() })
  .meta({ id: 'RoutingUpdate' });

/** Work to find an agent for, described by itself. */
const work = {
  type: taskType.optional(),
  priority: taskPriority.optional(),
  project: project.optional(),
  /** A file the work is about, relative to its repository. */
  path: text(1024, 1).optional(),
  /** What the work requires, in the terms of the team roster. */
  capabilities: z.array(text(100, 1)).max(64).optional(),
  subtaskCount: subtaskCount.optional(),
};

export const rosterRouteRequest = z.strictObject(work).meta({ id: 'RosterRouteRequest' });
export type RouteWork = z.infer<typeof rosterRouteRequest>;

const requiredRuntimeCapabilities = launchRequest.shape.requiredRuntimeCapabilities;

/** `POST /api/agents/route`: an existing task, or work described by itself. */
export const routeRequest = z
  .strictObject({ taskId: taskId.optional(), ...work, requiredRuntimeCapabilities })
  .refine(
    ({ taskId: namedTask, requiredRuntimeCapabilities: _required, ...described }) =>
      namedTask === undefined || Object.keys(described).length === 0,
    { path: ['taskId'], message: 'cannot be combined with other fields: a task is routed by its own' },
  )
  .meta({ id: 'RouteRequest' });

/** Why a manifest does not do, or does with a warning. */
export const runtimeFinding = z.object({
  code: z.enum([
    'agent-disabled',
    'provider-mismatch',
    'model-mismatch',
    'probe-failed',
    'probe-degraded',
    'not-probed',
    'not-launchable',
    'capability-unsupported',
    'capability-unknown',
    'capability-missing',
    'capability-advisory',
  ]),
  message: z.string(),
  capabilityId: z.string().optional(),
  state: capabilityState.optional(),
});
export type RuntimeFinding = z.infer<typeof runtimeFinding>;

/** One manifest, and whether it serves one agent. */
export const runtimeCandidate = z
  .object({
    agent: slug,
    /** `host`: probed by a worker; `declared`: what the provider family does, of an agent no host has probed yet. */
    source: z.enum(['host', 'declared', 'registry']),
    /** Of the host or the registration; null for what is only declared. */
    sourceId: z.string().nullable(),
    provider: z.string(),
    model: z.string().nullable(),
    manifestDigest: z.string(),
    probeState: z.enum(['ready', 'degraded', 'failed']),
    compatible: z.boolean(),
    selected: z.boolean(),
    reasons: z.array(runtimeFinding),
    warnings: z.array(runtimeFinding),
  })
  .meta({ id: 'RuntimeCandidate' });
export type RuntimeCandidate = z.infer<typeof runtimeCandidate>;

export const runtimeSelection = z
  .object({
    requiredCapabilities: z.array(z.string()),
    compatible: z.boolean(),
    selectedManifest: z.object({ manifestDigest: z.string(), provider: z.string(), compatible: z.boolean() }),
    candidates: z.array(runtimeCandidate),
  })
  .meta({ id: 'RuntimeSelection' });

export const routeResult = z
  .object({
    agent: slug,
    model: z.string().nullable(),
    /** The profile a member of the team roster works with. */
    profileId: slug.nullable(),
    /** The id of the rule, `team-roster:<member>`, or null when nothing matched. */
    rule: z.string().nullable(),
    reason: z.string(),
    runtimeSelection,
    runtimeCandidates: z.array(runtimeCandidate),
    traceId: z.string(),
  })
  .meta({ id: 'RouteResult' });

export const hostPreviewRequest = z.strictObject({ requiredRuntimeCapabilities }).meta({ id: 'HostPreviewRequest' });

export const hostEvaluation = z.object({
  hostId: z.string(),
  hostname: z.string(),
  seenAt: timestamp,
  /** What it confines runs to that have a sandbox preset; null where it confines none, or no agent was probed there yet. */
  sandbox: hostSandbox.nullable(),
  /** Whether some enabled agent could be run here. */
  compatible: z.boolean(),
  candidates: z.array(runtimeCandidate.omit({ selected: true })),
});

export const hostPreview = z
  .object({ requiredCapabilities: z.array(z.string()), generatedAt: timestamp, hosts: z.array(hostEvaluation) })
  .meta({ id: 'HostPreview' });
