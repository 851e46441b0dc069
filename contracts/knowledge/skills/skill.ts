import { z } from 'zod';
import { digest, text, timestamp } from '../../common';
import { listPage } from '../../query';
import { task, taskPriority } from '../../tasks/task';
import { severity } from '../error';

export const skillSeverity = severity;

/** Specification 1, Enumerations. */
export const skillCapability = z
  .enum([
    ...(['filesystem.read', 'filesystem.write', 'shell.execute', 'network.egress', 'credential.access'] as const),
    ...(['external.message', 'memory.write', 'task.mutate', 'schedule.persist', 'browser.session'] as const),
    'mcp.tool',
  ])
  .meta({ id: 'SkillCapability' });
export type SkillCapability = z.infer<typeof skillCapability>;

export const skillProfileStatus = z.enum(['aligned', 'mismatch', 'missing-declaration']);

/** `resource_…` of a shared resource, `skill_…` of a directory: it follows from its path. */
export const skillId = z
  .string()
  .regex(/^(?:resource|skill)_[0-9a-f]{12}$/, 'must look like skill_0123456789ab or resource_0123456789ab')
  .meta({ id: 'SkillId' });

export const skillParams = z.strictObject({ skillId });

/** One capability, and how much it matters when a skill does not declare it. */
export const capabilityDefinition = z
  .object({ id: skillCapability, title: z.string(), description: z.string(), severity: skillSeverity })
  .meta({ id: 'SkillCapabilityDefinition' });
export type CapabilityDefinition = z.infer<typeof capabilityDefinition>;

/** `source` is a file and its line, `label` what was recognised there. */
export const capabilityEvidence = z.object({ source: z.string(), label: z.string() });

export const observedCapability = z.object({
  capability: skillCapability,
  /** 0 to 1: scripts are more certain than prose. */
  confidence: z.number().min(0).max(1),
  evidence: z.array(capabilityEvidence),
});
export type ObservedCapability = z.infer<typeof observedCapability>;

export const capabilityFinding = z.object({
  kind: z.enum(['undeclared-capability', 'missing-declaration', 'unknown-capability', 'unused-declaration']),
  /** The declared name where it is none of the taxonomy; null where the finding is about no single one. */
  capability: z.string().nullable(),
  severity: skillSeverity,
  message: z.string(),
});
export type CapabilityFinding = z.infer<typeof capabilityFinding>;

/** What a skill declares, against what its files do. */
export const skillProfile = z
  .object({
    skillId,
    name: z.string(),
    path: z.string(),
    /** Of the version that was examined. */
    digest,
    declaredCapabilities: z.array(skillCapability),
    observedCapabilities: z.array(observedCapability),
    undeclaredObservedCapabilities: z.array(skillCapability),
    status: skillProfileStatus,
    /** The highest of its findings; null without any. */
    severity: skillSeverity.nullable(),
    findings: z.array(capabilityFinding),
  })
  .meta({ id: 'SkillProfile' });
export type SkillProfile = z.infer<typeof skillProfile>;

export const skillProfileQuery = z
  .strictObject({
    status: skillProfileStatus.optional(),
    /** The least severity. */
    severity: skillSeverity.optional(),
    /** Declared or observed. */
    capability: skillCapability.optional(),
    /** Part of its name or path. */
    q: text(200, 1).optional(),
    ...listPage(100, 500),
  })
  .meta({ id: 'SkillProfileQuery' });
export type SkillProfileQuery = z.output<typeof skillProfileQuery>;

export const capabilityRemediation = z
  .strictObject({ project: task.shape.project.optional(), priority: taskPriority.default('medium') })
  .meta({ id: 'SkillCapabilityRemediation' });

export const skillProfileTask = z.object({ profile: skillProfile, task }).meta({ id: 'SkillProfileTask' });

/** An exception that was reviewed: for one version of a skill, by an owner, until a time. */
export const skillException = z
  .object({
    skillId,
    owner: z.string(),
    reason: z.string(),
    expiresAt: timestamp,
    /** The version that was reviewed; another one is not excepted. */
    digest,
    reviewedBy: z.string(),
    reviewedAt: timestamp,
  })
  .meta({ id: 'SkillException' });
export type SkillException = z.infer<typeof skillException>;

/** Longest term of an exception, in days. */
export const maxExceptionDays = 366;

export const skillExceptionCreate = z
  .strictObject({
    owner: text(200, 1),
    reason: text(2_000, 1),
    expiresAt: z.iso.datetime({ offset: true }),
  })
  .meta({ id: 'SkillExceptionCreate' });
