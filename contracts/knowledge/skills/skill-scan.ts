import { z } from 'zod';
import { digest, text, timestamp } from '../../common';
import { listPage, nextCursor } from '../../query';
import { task, taskPriority } from '../../tasks/task';
import { skillCapability, skillException, skillId, skillProfileStatus, skillSeverity } from './skill';

export const scanRecommendation = z.enum(['safe', 'caution', 'do-not-install']);
export type ScanRecommendation = z.infer<typeof scanRecommendation>;

export const installDecision = z.enum(['allow', 'warn', 'block']);
export type InstallDecision = z.infer<typeof installDecision>;

export const skillScanId = z
  .string()
  .regex(/^scan_[0-9a-f]{12}$/, 'must look like scan_0123456789ab')
  .meta({ id: 'SkillScanId' });

export const patternCategory = z.enum([
  ...(['code-execution', 'credentials', 'destruction', 'exfiltration', 'instructions', 'network'] as const),
  ...(['persistence', 'privileges', 'structure', 'supply-chain', 'text'] as const),
]);

/** One rule of the scan. */
export const securityPattern = z
  .object({
    id: z.string(),
    title: z.string(),
    category: patternCategory,
    severity: skillSeverity,
    recommendation: z.string(),
  })
  .meta({ id: 'SkillSecurityPattern' });
export type SecurityPattern = z.infer<typeof securityPattern>;

/** What a rule found; the excerpt is without secrets, names of users and invisible characters. */
export const scanFinding = z.object({
  patternId: z.string(),
  title: z.string(),
  category: patternCategory,
  severity: skillSeverity,
  file: z.string(),
  /** From 1 on; null where the finding is about the whole file. */
  line: z.number().int().nullable(),
  evidence: z.string(),
  recommendation: z.string(),
});
export type ScanFinding = z.infer<typeof scanFinding>;

export const skillFileKind = z.enum(['text', 'binary', 'too-large', 'symbolic-link', 'special', 'unreadable']);
export type SkillFileKind = z.infer<typeof skillFileKind>;

export const scannedFile = z.object({
  path: z.string(),
  kind: skillFileKind,
  bytes: z.number().int(),
});
export type ScannedFile = z.infer<typeof scannedFile>;

export const skillTargetType = z.enum(['skill', 'directory', 'file', 'shared-resource']);

const scanFields = {
  id: skillScanId,
  /** Null for a target that is no skill of the inventory. */
  skillId: skillId.nullable(),
  targetType: skillTargetType,
  path: z.string(),
  skillName: z.string(),
  digest,
  severity: skillSeverity.nullable(),
  /** 0 to 100. */
  riskScore: z.number().int().min(0).max(100),
  recommendation: scanRecommendation,
  findingCount: z.number().int(),
  profileStatus: skillProfileStatus,
  includeReferencedFiles: z.boolean(),
  scannedAt: timestamp,
  scannedBy: z.string(),
};

/** A stored scan in a list. */
export const skillScanSummary = z.object(scanFields).meta({ id: 'SkillScanSummary' });
export type SkillScanSummary = z.infer<typeof skillScanSummary>;

/** A scan of one skill, directory or file. */
export const skillScan = z
  .object({
    ...scanFields,
    files: z.array(scannedFile),
    findings: z.array(scanFinding),
    /** Whether more was found than is listed. */
    findingsTruncated: z.boolean(),
    persisted: z.boolean(),
    /** Where the stored scan is read; empty when it is not stored. */
    persistedPaths: z.array(z.string()),
  })
  .meta({ id: 'SkillScan' });
export type SkillScan = z.infer<typeof skillScan>;
export type StoredScan = Omit<SkillScan, 'persisted' | 'persistedPaths'>;

/** `skills/pdf-tools`, `skills/pdf-tools/run.sh`, `shared-resources/resource_…`: below a root of skills, and never out of it. */
export const skillPath = text(1_000, 1)
  .refine((path) => !/[\ud800-\udfff\\]/u.test(path), 'must be text without backslashes')
  .refine((path) => !path.split('/').some((part) => part === '' || part === '.' || part === '..'), {
    message: 'must be a path below a root of skills, without empty parts, `.` and `..`',
  });

export const skillScanRequest = z
  .strictObject({
    path: skillPath,
    persist: z.boolean().default(true),
    /** `false`: of a skill only its SKILL.md. */
    includeReferencedFiles: z.boolean().default(true),
  })
  .meta({ id: 'SkillScanRequest' });
export type SkillScanRequest = z.output<typeof skillScanRequest>;

export const skillScanQuery = z
  .strictObject({
    skillId: skillId.optional(),
    recommendation: scanRecommendation.optional(),
    ...listPage(50, 200),
  })
  .meta({ id: 'SkillScanQuery' });
export type SkillScanQuery = z.output<typeof skillScanQuery>;

/** A skill of a workspace, with the decision whether it may be installed. */
export const skillInventoryItem = z
  .object({
    skillId,
    name: z.string(),
    description: z.string().nullable(),
    path: z.string(),
    digest,
    fileCount: z.number().int(),
    declaredCapabilities: z.array(skillCapability),
    status: skillProfileStatus,
    severity: skillSeverity.nullable(),
    riskScore: z.number().int(),
    recommendation: scanRecommendation,
    findingCount: z.number().int(),
    decision: installDecision,
    /** What the decision follows from. */
    reasons: z.array(z.string()),
    exception: skillException.extend({ state: z.enum(['active', 'expired', 'other-version']) }).nullable(),
    /** The newest stored scan; `current` when it is of this version. */
    lastScan: z.object({ id: skillScanId, scannedAt: timestamp, current: z.boolean() }).nullable(),
  })
  .meta({ id: 'SkillInventoryItem' });
export type SkillInventoryItem = z.infer<typeof skillInventoryItem>;

export const skillInventory = z
  .object({
    skills: z.array(skillInventoryItem),
    /** The roots of skill directories, and whether they can be read. */
    roots: z.array(z.object({ root: z.string(), state: z.enum(['present', 'missing', 'unreadable']) })),
    /** Whether there are more skill directories than are examined. */
    truncated: z.boolean(),
    nextCursor,
  })
  .meta({ id: 'SkillInventory' });

export const skillInventoryQuery = z
  .strictObject({
    decision: installDecision.optional(),
    recommendation: scanRecommendation.optional(),
    q: text(200, 1).optional(),
    ...listPage(100, 500),
  })
  .meta({ id: 'SkillInventoryQuery' });

export const securityRemediation = z
  .strictObject({
    project: task.shape.project.optional(),
    sprint: task.shape.sprint.optional(),
    priority: taskPriority.default('high'),
  })
  .meta({ id: 'SkillSecurityRemediation' });

export const skillInventoryTask = z.object({ skill: skillInventoryItem, task }).meta({ id: 'SkillInventoryTask' });
