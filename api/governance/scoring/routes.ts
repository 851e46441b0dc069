import { z } from 'zod';
import {
  type ScoringEvaluation,
  scoringEvaluation,
  scoringHistoryQuery,
  scoringProfile,
  type ScoringProfileFields,
  scoringProfileId,
  scoringProfileInput,
  scoringProfileLimit,
  scoringProfileQuery,
  scoringRequest,
} from '../../../contracts/governance/scoring';
import { validationError } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import { compact } from '../../../platform/json/compact';
import { byName, slicePage } from '../../../platform/lists/slice';
import { operationTime } from '../../../platform/operations/operation';
import { ownFields } from '../../../stores/port/configured-records';
import type { ApiContext } from '../../context';
import { recordRoutes } from '../../record-routes';
import { newItemId } from '../../tasks/tasks/items';
import { plainField } from '../../tasks/tasks/plain-text';
import { composite } from './composite';
import { createFindPatterns } from './patterns/find-patterns';
import { score } from './score';

const tag = 'scoring';
const read = { tag, permission: 'report:read' };

/** The profile without HTML in its name. @throws AppError 400 with the path of a pattern that is none */
function checkedFields(fields: ScoringProfileFields): ScoringProfileFields {
  const issues = fields.scorers.flatMap((scorer, at) => {
    if (scorer.type !== 'RegexMatch' || isPattern(scorer)) {
      return [];
    }
    return [{ path: `scorers.${at}.pattern`, message: 'is not a regular expression' }];
  });
  if (issues.length > 0) {
    throw validationError(issues);
  }
  return compact({ ...fields, name: plainField(fields.name, 'name') });
}

/** Compiling takes no longer than the pattern is long; only the search may take for ever. */
function isPattern({ pattern, flags }: { pattern: string; flags: string }): boolean {
  try {
    return new RegExp(pattern, flags).source !== '';
  } catch (error) {
    if (error instanceof SyntaxError) {
      return false;
    }
    throw error;
  }
}

/** How work is scored, and how it was (specification 2, Policies and governance). */
export function scoringRoutes(routes: Routes, { scoring }: Pick<ApiContext, 'scoring'>): void {
  const findPatterns = createFindPatterns();
  const profiles = recordRoutes(routes, {
    records: scoring.profiles,
    resource: 'scoring profile',
    type: tag,
    path: '/scoring/profiles',
    id: 'id',
    params: z.strictObject({ id: scoringProfileId }),
    response: scoringProfile,
    permissions: { read: 'report:read', write: 'settings:write' },
    max: scoringProfileLimit,
    present: (profile) => profile,
  });

  profiles.list(
    {
      operationId: 'listScoringProfiles',
      summary: 'List scoring profiles by name',
      query: scoringProfileQuery,
      response: z.array(scoringProfile),
    },
    (all, query) => slicePage(all, query, { positionOf: ({ name, id }) => ({ key: name, id }), compareKeys: byName }),
  );

  profiles.create(
    {
      operationId: 'createScoringProfile',
      summary: 'Create a scoring profile',
      body: scoringProfileInput,
      audit: { action: 'scoring-profile.create', details: (_body, { name }) => ({ name }) },
    },
    (body) => ({ id: newItemId('scoring'), fields: checkedFields(body) }),
  );

  profiles.get({ operationId: 'getScoringProfile', summary: 'Read one scoring profile' });

  profiles.replace(
    {
      operationId: 'replaceScoringProfile',
      summary: 'Replace a scoring profile',
      body: scoringProfileInput,
      audit: { action: 'scoring-profile.update', details: (_body, { name }) => ({ name }) },
    },
    checkedFields,
  );

  profiles.remove({
    operationId: 'deleteScoringProfile',
    summary: 'Delete a scoring profile; its scores remain',
    audit: { action: 'scoring-profile.delete' },
  });

  routes.add(
    {
      ...read,
      method: 'post',
      path: '/scoring/evaluate',
      operationId: 'scoreWork',
      summary: 'Score a piece of work by a profile and record the score',
      body: scoringRequest,
      response: scoringEvaluation,
      errors: [404],
    },
    async ({ body: { profileId, output, action, agent, taskId }, auth }) => {
      const profile = await profiles.find(profileId);
      const { compositeMethod: method, scorers } = ownFields(profile);
      const scorerResults = await score(scorers, { output, action }, findPatterns);
      const evaluation: ScoringEvaluation = compact({
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
      summary: 'List scores by profile, agent, task and time, newest first',
      query: scoringHistoryQuery,
      response: z.array(scoringEvaluation),
    },
    ({ query }) => scoring.history(query),
  );
}
