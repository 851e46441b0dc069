import { z } from 'zod';
import {
  scoringEvaluation,
  scoringHistoryQuery,
  scoringProfile,
  scoringProfileId,
  scoringProfileInput,
  scoringProfileLimit,
  scoringProfileQuery,
  scoringRequest,
  type ScoringEvaluation,
  type ScoringProfileFields,
} from '../../contracts/scoring';
import { assertFound, conflict, notFound, validationError } from '../../platform/errors/app-error';
import type { Routes } from '../../platform/http/routes';
import { withoutUndefined } from '../../platform/json/without-undefined';
import { ownFields } from '../../stores/configured-records';
import { assertRevision, statedRevision, withRevision } from '../config/revisions';
import { byName, slicePage } from '../../platform/lists/slice';
import { operationTime } from '../../platform/operations/operation';
import type { ApiContext } from '../context';
import { newItemId } from '../tasks/items';
import { plainField } from '../tasks/plain-text';
import { composite } from './composite';
import { createFindPatterns } from './patterns/find-patterns';
import { score } from './score';

const tag = 'scoring';
const byId = z.strictObject({ id: scoringProfileId });
const read = { tag, permission: 'report:read' };
const write = { tag, permission: 'settings:write', response: scoringProfile, errors: [409] };

/** The profile without HTML in its name. @throws AppError 400 with the path of a pattern that is none */
function checkedFields(fields: ScoringProfileFields): ScoringProfileFields {
  const issues = fields.scorers.flatMap((scorer, at) => {
    if (scorer.type !== 'RegexMatch' || isPattern(scorer)) return [];
    return [{ path: `scorers.${at}.pattern`, message: 'is no regular expression' }];
  });
  if (issues.length > 0) throw validationError(issues);
  return withoutUndefined({ ...fields, name: plainField(fields.name, 'name') });
}

/** Compiling takes no longer than the pattern is long; only looking for it may take for ever. */
function isPattern({ pattern, flags }: { pattern: string; flags: string }): boolean {
  try {
    return new RegExp(pattern, flags).source !== '';
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

/** How work is scored, and how it was (specification 2, Policies and governance). */
export function scoringRoutes(routes: Routes, { scoring }: Pick<ApiContext, 'scoring'>): void {
  const { profiles } = scoring;
  const findPatterns = createFindPatterns();

  async function find(id: string) {
    const found = await profiles.get(id);
    assertFound(found, 'scoring profile', id);
    return found;
  }

  routes.add(
    {
      ...read,
      method: 'get',
      path: '/scoring/profiles',
      operationId: 'listScoringProfiles',
      summary: 'List the scoring profiles by name',
      query: scoringProfileQuery,
      response: z.array(scoringProfile),
    },
    async ({ query }) =>
      slicePage(await profiles.list(), query, ({ name, id }) => ({ key: name, id }), { compareKeys: byName }),
  );

  routes.add(
    {
      ...write,
      method: 'post',
      path: '/scoring/profiles',
      operationId: 'createScoringProfile',
      summary: 'Make a scoring profile',
      body: scoringProfileInput,
      status: 201,
      audit: (_request, { id, name }) => ({ action: 'scoring-profile.create', resource: id, details: { name } }),
    },
    async ({ body }, ctx) => {
      const fields = checkedFields(body);
      if ((await profiles.list()).length >= scoringProfileLimit)
        throw conflict(`There may be at most ${scoringProfileLimit} scoring profiles.`, { resourceType: tag });
      return withRevision(ctx, tag, await profiles.create(newItemId('scoring'), fields));
    },
  );

  routes.add(
    {
      ...read,
      method: 'get',
      path: '/scoring/profiles/:id',
      operationId: 'getScoringProfile',
      summary: 'Read one scoring profile',
      params: byId,
      response: scoringProfile,
    },
    async ({ params }, ctx) => withRevision(ctx, tag, await find(params.id)),
  );

  routes.add(
    {
      ...write,
      method: 'put',
      path: '/scoring/profiles/:id',
      operationId: 'replaceScoringProfile',
      summary: 'Replace a scoring profile',
      params: byId,
      body: scoringProfileInput,
      audit: (_request, { id, name }) => ({ action: 'scoring-profile.update', resource: id, details: { name } }),
    },
    async ({ params: { id }, body, header }, ctx) => {
      const fields = checkedFields(body);
      const expected = await statedRevision(tag, id, header, profiles);
      const changed = await profiles.change(id, (current) => {
        assertFound(current, 'scoring profile', id);
        assertRevision('scoring profile', current, expected);
        return fields;
      });
      return withRevision(ctx, tag, changed);
    },
  );

  routes.add(
    {
      ...write,
      method: 'delete',
      path: '/scoring/profiles/:id',
      operationId: 'deleteScoringProfile',
      summary: 'Delete a scoring profile; scores that were made with it stay',
      params: byId,
      response: z.undefined(),
      status: 204,
      audit: ({ params }) => ({ action: 'scoring-profile.delete', resource: params.id }),
    },
    async ({ params: { id }, header }) => {
      const expected = await statedRevision(tag, id, header, profiles);
      if (!(await profiles.remove(id, expected))) throw notFound('scoring profile', id);
      return undefined;
    },
  );

  routes.add(
    {
      ...read,
      method: 'post',
      path: '/scoring/evaluate',
      operationId: 'scoreWork',
      summary: 'Score a piece of work by a profile; the score is kept, the work is not',
      body: scoringRequest,
      response: scoringEvaluation,
    },
    async ({ body: { profileId, output, action, agent, taskId }, auth }) => {
      const profile = await find(profileId);
      const { compositeMethod: method, scorers } = ownFields(profile);
      const scorerResults = await score(scorers, { output, action }, findPatterns);
      const evaluation: ScoringEvaluation = withoutUndefined({
        id: newItemId('evaluation'),
        profileId,
        profileRevision: profile.revision,
        score: composite(method, scorerResults),
        compositeMethod: method,
        scorerResults,
        agent,
        taskId,
        evaluatedAt: operationTime().toISOString(),
        evaluatedBy: auth.actor,
      });
      await scoring.add(evaluation);
      return evaluation;
    },
  );

  routes.add(
    {
      ...read,
      method: 'get',
      path: '/scoring/history',
      operationId: 'listScores',
      summary: 'List the scores by profile, agent, task and time, the newest first',
      query: scoringHistoryQuery,
      response: z.array(scoringEvaluation),
    },
    ({ query }) => scoring.history(query),
  );
}
