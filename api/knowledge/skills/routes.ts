import { z } from 'zod';
import {
  capabilityDefinition,
  capabilityRemediation,
  skillParams,
  skillProfile,
  skillProfileQuery,
  skillProfileTask,
} from '../../../contracts/knowledge/skills/skill';
import { profileOf } from '../../../domain/skills/judge';
import { capabilityTask } from '../../../domain/skills/remediation';
import { isAtLeast } from '../../../domain/skills/severity';
import { taxonomy } from '../../../domain/skills/taxonomy';
import { conflict } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import { compact } from '../../../platform/json/compact';
import { slicePage } from '../../../platform/lists/slice';
import { findSkill, type SkillContext } from './find-skill';
import { recordMismatch } from './mismatch';
import { skillExceptionRoutes } from './routes.exceptions';
import { skillInventoryRoutes } from './routes.inventory';
import { skillScanRoutes } from './routes.scans';

const read = { method: 'get' as const, tag: 'skills', permission: 'policy:read' };

/** Whether a text occurs in a name or a path, whatever its case. */
const mentions = (texts: readonly string[], q: string | undefined): boolean =>
  q === undefined || texts.some((text) => text.toLowerCase().includes(q.toLowerCase()));

/** What skills declare, what their files do, and whether they may be installed (specification 1, Registries and analysis). */
export function skillRoutes(routes: Routes, context: SkillContext): void {
  const { skills, board } = context;

  routes.add(
    {
      ...read,
      path: '/skills/capabilities/taxonomy',
      operationId: 'listSkillCapabilityDefinitions',
      summary: 'List the canonical capabilities of skills',
      response: z.array(capabilityDefinition),
    },
    async () => [...taxonomy],
  );

  routes.add(
    {
      ...read,
      path: '/skills/capabilities',
      operationId: 'listSkillProfiles',
      summary: 'List what skills declare against what their files do, by path',
      query: skillProfileQuery,
      response: z.array(skillProfile),
      errors: [429],
    },
    async ({ query: { status, severity, capability, q, ...part } }) => {
      const library = await skills.list();
      const matching = library.skills
        .map((skill) => profileOf(skill, skill.analysis))
        .filter(
          (one) =>
            (status === undefined || one.status === status) &&
            (severity === undefined || isAtLeast(one.severity, severity)) &&
            (capability === undefined ||
              one.declaredCapabilities.includes(capability) ||
              one.observedCapabilities.some((observed) => observed.capability === capability)) &&
            mentions([one.name, one.path], q),
        );
      return slicePage(matching, part, { positionOf: ({ path, skillId }) => ({ key: path, id: skillId }) });
    },
  );

  routes.add(
    {
      ...read,
      path: '/skills/capabilities/:skillId',
      operationId: 'getSkillProfile',
      summary: 'Read what a skill declares against what its files do',
      params: skillParams,
      response: skillProfile,
    },
    async ({ params: { skillId } }) => {
      const skill = await findSkill(context, skillId);
      return profileOf(skill, skill.analysis);
    },
  );

  routes.add(
    {
      method: 'post',
      path: '/skills/capabilities/:skillId/remediation-task',
      operationId: 'createSkillCapabilityTask',
      summary: 'Create a task that aligns what a skill declares with what it does',
      tag: 'skills',
      permission: 'task:write',
      params: skillParams,
      body: capabilityRemediation,
      response: skillProfileTask,
      status: 201,
      errors: [409],
      audit: ({ params: { skillId } }, { task }) => ({
        action: 'skill.remediation-task',
        resource: skillId,
        details: { taskId: task.id, about: 'capabilities' },
      }),
    },
    async ({ params: { skillId }, body: { project, priority }, auth }) => {
      const skill = await findSkill(context, skillId);
      const profile = profileOf(skill, skill.analysis);
      if (profile.findings.length === 0) {
        throw conflict('What the skill declares is what its files do: there is nothing to align.', { skillId });
      }
      const task = await board.create(compact({ ...capabilityTask(profile), project, priority }), {
        actor: auth.actor,
      });
      await recordMismatch(context, profile, auth.actor);
      return { profile, task };
    },
  );

  skillScanRoutes(routes, context);
  skillInventoryRoutes(routes, context);
  skillExceptionRoutes(routes, context);
}
