import { skillParams } from '../../../contracts/knowledge/skills/skill';
import {
  securityRemediation,
  skillInventory,
  skillInventoryQuery,
  skillInventoryTask,
} from '../../../contracts/knowledge/skills/skill-scan';
import { securityTask } from '../../../domain/skills/remediation';
import { conflict } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import { compact } from '../../../platform/json/compact';
import { slicePage } from '../../../platform/lists/slice';
import { exceptionOf, findSkill, presentException, type SkillContext } from './find-skill';
import { judge, withLastScan } from './inventory';

/** Every skill with the decision whether it may be installed. */
export function skillInventoryRoutes(routes: Routes, context: SkillContext): void {
  const { skills, skillScans, skillExceptions, board, now } = context;

  routes.add(
    {
      method: 'get',
      path: '/skills/security/inventory',
      operationId: 'listSkillInventory',
      summary: 'List skills with their risk and the decision whether they may be installed, by path',
      tag: 'skills',
      permission: 'policy:read',
      query: skillInventoryQuery,
      response: skillInventory,
    },
    async ({ query: { decision, recommendation, q, ...part } }) => {
      const library = await skills.list();
      const exceptions = new Map((await skillExceptions.list()).map((record) => [record.id, presentException(record)]));
      const at = now();
      const search = q?.toLowerCase();
      const matching = library.skills
        .map((skill) => judge(skill, exceptions.get(skill.skillId), at))
        .filter(
          (one) =>
            (decision === undefined || one.decision === decision) &&
            (recommendation === undefined || one.recommendation === recommendation) &&
            (search === undefined || [one.name, one.path].some((text) => text.toLowerCase().includes(search))),
        );
      const page = slicePage(matching, part, { positionOf: ({ path, skillId }) => ({ key: path, id: skillId }) });
      const listed = [];
      for (const skill of page.items) {
        listed.push(await withLastScan(skill, skillScans));
      }
      return page.answer({ skills: listed, roots: library.roots, truncated: library.truncated });
    },
  );

  routes.add(
    {
      method: 'post',
      path: '/skills/security/inventory/:skillId/remediation-task',
      operationId: 'createSkillSecurityTask',
      summary: 'Create a task that fixes what a scan of a skill finds',
      tag: 'skills',
      permission: 'admin:manage',
      params: skillParams,
      body: securityRemediation,
      response: skillInventoryTask,
      status: 201,
      errors: [409],
      audit: ({ params: { skillId } }, { task }) => ({
        action: 'skill.remediation-task',
        resource: skillId,
        details: { taskId: task.id, about: 'security' },
      }),
    },
    async ({ params: { skillId }, body: { project, sprint, priority }, auth }) => {
      const skill = await findSkill(context, skillId);
      const { findings, name } = skill.analysis;
      if (findings.length === 0) {
        throw conflict('A scan of the skill finds nothing: there is nothing to fix.', { skillId });
      }
      const judged = judge(skill, await exceptionOf(context, skillId), now());
      const fields = compact({ ...securityTask({ ...skill, name }, findings), project, sprint, priority });
      const task = await board.create(fields, { actor: auth.actor });
      return { skill: await withLastScan(judged, skillScans), task };
    },
  );
}
