import { z } from 'zod';
import {
  securityPattern,
  type SkillScan,
  skillScan,
  skillScanId,
  skillScanQuery,
  type SkillScanRequest,
  skillScanRequest,
  skillScanSummary,
  type StoredScan,
} from '../../../contracts/knowledge/skills/skill-scan';
import { rulesVersion } from '../../../domain/skills/analyze';
import { profileOf } from '../../../domain/skills/judge';
import { scanOf } from '../../../domain/skills/scan';
import { structurePatterns } from '../../../domain/skills/structure-patterns';
import { textPatterns } from '../../../domain/skills/text-patterns';
import { assertFound, notFound, validationError } from '../../../platform/errors/app-error';
import type { AuthContext } from '../../../platform/http/auth/auth';
import type { Routes } from '../../../platform/http/routing/routes';
import { createFairQueue } from '../../../platform/operations/fair-queue';
import { operationTime } from '../../../platform/operations/operation';
import type { NoTarget, ScanTarget } from '../../../stores/knowledge/skills/library';
import { newItemId } from '../../tasks/tasks/items';
import type { SkillContext } from './find-skill';
import { recordMismatch } from './mismatch';

const read = { method: 'get' as const, tag: 'skills', permission: 'policy:read' };

const patterns = [...textPatterns.map(({ patterns: _patterns, ...pattern }) => pattern), ...structurePatterns];

const reasons: Readonly<Record<Exclude<NoTarget, 'not-found'>, string>> = {
  'is-root': 'is a root; name a skill in it',
  'over-link': 'leads over a symbolic link, which is not followed',
};

/** @throws AppError 404 when there is nothing at the path, 400 when it is nothing to scan */
function assertTarget(target: ScanTarget | NoTarget, path: string): asserts target is ScanTarget {
  if (target === 'not-found') {
    throw notFound('skill path', path);
  }
  if (typeof target === 'string') {
    throw validationError([{ path: 'path', message: reasons[target], code: 'invalid_path' }]);
  }
}

const persistedPath = ({ id }: Pick<StoredScan, 'id'>): string => `/api/skills/security/scans/${id}`;

/** Scans of skills: what is searched for, what was found, and scans on request. */
export function skillScanRoutes(routes: Routes, context: SkillContext): void {
  const { skills, skillScans } = context;
  const queue = createFairQueue({
    concurrency: 2,
    longest: 20,
    refusal: { code: 'TOO_MANY_SCANS', message: 'Too many of your scans are waiting. Send them again later.' },
  });

  async function scan(body: SkillScanRequest, auth: AuthContext): Promise<SkillScan> {
    const { path, persist, includeReferencedFiles } = body;
    const target = await queue.run(auth.actor, () => skills.target(path, includeReferencedFiles));
    assertTarget(target, path);
    const scannedAt = operationTime().toISOString();
    const made = { id: newItemId('scan'), includeReferencedFiles, scannedAt, scannedBy: auth.actor };
    const stored = scanOf(target, made);
    if (persist) {
      await skillScans.add(stored, rulesVersion);
    }
    if (target.skillId !== null && includeReferencedFiles) {
      await recordMismatch(context, profileOf({ ...target, skillId: target.skillId }, target.analysis), auth.actor);
    }
    return { ...stored, persisted: persist, persistedPaths: persist ? [persistedPath(stored)] : [] };
  }

  routes.add(
    {
      ...read,
      path: '/skills/security/patterns',
      operationId: 'listSkillSecurityPatterns',
      summary: 'List the rules that skills are scanned with',
      response: z.array(securityPattern),
    },
    async () => patterns,
  );

  routes.add(
    {
      ...read,
      path: '/skills/security/scans',
      operationId: 'listSkillScans',
      summary: 'List stored scans of skills, newest first',
      query: skillScanQuery,
      response: z.array(skillScanSummary),
    },
    ({ query }) => skillScans.list(query),
  );

  routes.add(
    {
      ...read,
      path: '/skills/security/scans/:id',
      operationId: 'getSkillScan',
      summary: 'Read a stored scan of a skill',
      params: z.strictObject({ id: skillScanId }),
      response: skillScan,
    },
    async ({ params: { id } }) => {
      const stored = await skillScans.get(id);
      assertFound(stored, 'skill scan', id);
      return { ...stored, persisted: true, persistedPaths: [persistedPath(stored)] };
    },
  );

  for (const [path, operationId, summary, tag] of [
    ['/skills/security/scan', 'scanSkill', 'Scan a skill, a directory or a file of one', 'skills'],
    ['/maintenance/skill-security/scan', 'scanSkillInMaintenance', 'Scan a skill, as `scanSkill` does', 'maintenance'],
  ] as const) {
    routes.add(
      {
        method: 'post',
        path,
        operationId,
        summary,
        tag,
        permission: 'admin:manage',
        body: skillScanRequest,
        response: skillScan,
        errors: [404],
        audit: (_request, { id, path: scanned, skillId, digest, recommendation, persisted }) => ({
          action: 'skill.scan',
          resource: skillId ?? scanned,
          details: { path: scanned, digest, scanId: id, recommendation, persisted },
          once: `skill-scan:${id}`,
        }),
      },
      async ({ body, auth }) => scan(body, auth),
    );
  }
}
