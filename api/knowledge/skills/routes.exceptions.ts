import { z } from 'zod';
import {
  maxExceptionDays,
  skillException,
  skillExceptionCreate,
  skillParams,
} from '../../../contracts/knowledge/skills/skill';
import { notFound, validationError } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import { operationTime } from '../../../platform/operations/operation';
import { plainField } from '../../tasks/tasks/plain-text';
import { findSkill, presentException, type SkillContext } from './find-skill';

const write = { tag: 'skills', permission: 'admin:manage', params: skillParams };
const path = '/skills/security/inventory/:skillId/exceptions';

/** Exceptions that administrators have reviewed: they allow one version of a skill until a time. */
export function skillExceptionRoutes(routes: Routes, context: SkillContext): void {
  const { skillExceptions } = context;

  routes.add(
    {
      ...write,
      method: 'post',
      path,
      operationId: 'exceptSkill',
      summary: 'Allow the current version of a skill until a time; replaces an earlier exception',
      body: skillExceptionCreate,
      response: skillException,
      status: 201,
      errors: [409],
      audit: ({ params: { skillId } }, { owner, reason, expiresAt, digest }) => ({
        action: 'skill.exception',
        resource: skillId,
        details: { owner, reason, expiresAt, digest },
      }),
    },
    async ({ params: { skillId }, body: { owner, reason, expiresAt }, auth }) => {
      const reviewedAt = operationTime();
      const until = Date.parse(expiresAt);
      if (until <= reviewedAt.getTime() || until > reviewedAt.getTime() + maxExceptionDays * 86_400_000) {
        const message = `must be in the future, within ${maxExceptionDays} days`;
        throw validationError([{ path: 'expiresAt', message, code: 'invalid_time' }]);
      }
      const { digest } = await findSkill(context, skillId);
      const fields = {
        owner: plainField(owner, 'owner'),
        reason: plainField(reason, 'reason'),
        expiresAt: new Date(until).toISOString(),
        digest,
        reviewedBy: auth.actor,
        reviewedAt: reviewedAt.toISOString(),
      };
      return presentException(await skillExceptions.change(skillId, () => fields));
    },
  );

  routes.add(
    {
      ...write,
      method: 'delete',
      path,
      operationId: 'revokeSkillException',
      summary: 'Revoke the exception of a skill before its end',
      response: z.undefined(),
      status: 204,
      audit: ({ params: { skillId } }) => ({ action: 'skill.exception.revoke', resource: skillId }),
    },
    async ({ params: { skillId } }, ctx) => {
      if (!(await skillExceptions.remove(skillId))) {
        throw notFound('exception of the skill', skillId);
      }
      ctx.status = 204;
      return undefined;
    },
  );
}
