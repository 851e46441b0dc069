import { z } from 'zod';
import {
  type ErrorAnalysis,
  errorAnalysis,
  errorAnalysisId,
  errorAnalysisPatch,
  errorAnalysisQuery,
  errorSearchQuery,
  errorStats,
  errorSubmission,
} from '../../../contracts/knowledge/error';
import type { SwitchableFeature } from '../../../contracts/settings/settings';
import { assertFound } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import { compact } from '../../../platform/json/compact';
import { createRedactor } from '../../../platform/log/redact';
import { operationTime } from '../../../platform/operations/operation';
import type { ApiContext } from '../../context';
import { statedRevision, withRevision } from '../../revisions';
import { newItemId } from '../../tasks/tasks/items';
import { diagnose, severityOfRepeat } from './diagnose';
import { fingerprintOf } from './fingerprint';

const tag = 'errors';
const idParams = z.strictObject({ id: errorAnalysisId });
const read = { method: 'get' as const, tag, permission: 'telemetry:read' };
const write = { tag, permission: 'telemetry:write', response: errorAnalysis };

/** Longest summary, in characters. */
const summaryLength = 200;

const mentions = (phrase: string, { context, summary, rootCause, chosenFix = '', tags }: ErrorAnalysis): boolean =>
  [context.errorMessage, summary, rootCause, chosenFix, ...tags].some((text) => text.toLowerCase().includes(phrase));

/** Errors that work ended in, and their analyses (specification 1, Registries and analysis). */
export function errorRoutes(routes: Routes, { errorAnalyses }: Pick<ApiContext, 'errorAnalyses'>): void {
  const redact = createRedactor();

  routes.add(
    {
      ...write,
      method: 'post',
      path: '/errors/submit',
      operationId: 'submitError',
      summary: 'Submit an error and classify it; repeated errors are matched',
      body: errorSubmission,
      status: 201,
    },
    async ({ body: { taskId, agent, ...report } }) => {
      const errorMessage = redact(report.errorMessage);
      const { errorType, severity, ...guessed } = diagnose(errorMessage, report.errorType);
      const attemptDescription = report.attemptDescription && redact(report.attemptDescription);
      const at = operationTime().toISOString();
      return errorAnalyses.add({
        id: newItemId('error'),
        context: compact({
          taskId,
          agent,
          errorMessage,
          errorType,
          rawDetails: report.rawDetails && redact(report.rawDetails),
          attemptDescription,
          occurredAt: at,
        }),
        summary: (errorMessage.trim().split('\n')[0] ?? '').slice(0, summaryLength),
        ...guessed,
        severity: (previous) => severityOfRepeat(severity, previous),
        optionsConsidered: attemptDescription
          ? [{ option: attemptDescription, pros: [], cons: [], chosen: false }]
          : [],
        tags: [],
        fingerprint: fingerprintOf(errorType, errorMessage),
        revision: 1,
        analyzedAt: at,
      });
    },
  );

  routes.add(
    {
      ...read,
      path: '/errors',
      operationId: 'listErrors',
      summary: 'List errors by task, type, severity and agent, newest first',
      query: errorAnalysisQuery,
      response: z.array(errorAnalysis),
    },
    ({ query }) => errorAnalyses.list(query),
  );

  routes.add(
    {
      ...read,
      path: '/errors/stats',
      setting: 'analyticsEnabled' satisfies SwitchableFeature,
      operationId: 'getErrorStats',
      summary: 'Count errors by type and severity',
      response: errorStats,
    },
    () => errorAnalyses.stats(),
  );

  routes.add(
    {
      ...read,
      path: '/errors/search',
      operationId: 'searchErrors',
      summary: 'Search errors by message, cause, fix and tags, 2000 at a time, newest first',
      query: errorSearchQuery,
      response: z.array(errorAnalysis),
    },
    ({ query: { q, ...part } }) => {
      const phrase = q.toLowerCase();
      return errorAnalyses.search((analysis) => mentions(phrase, analysis), part);
    },
  );

  routes.add(
    {
      ...read,
      path: '/errors/:id',
      operationId: 'getError',
      summary: 'Read one error',
      params: idParams,
      response: errorAnalysis,
    },
    async ({ params: { id } }, ctx) => {
      const analysis = await errorAnalyses.get(id);
      assertFound(analysis, 'error', id);
      return withRevision(ctx, tag, analysis);
    },
  );

  routes.add(
    {
      ...write,
      method: 'patch',
      path: '/errors/:id',
      operationId: 'changeError',
      summary: 'Update the cause, severity and resolution of an error',
      params: idParams,
      body: errorAnalysisPatch,
      errors: [409],
    },
    async ({ params: { id }, body, header }, ctx) => {
      const expected = await statedRevision({ type: tag, id, current: () => errorAnalyses.get(id) }, { header });
      const changed = await errorAnalyses.change(id, body, expected);
      assertFound(changed, 'error', id);
      return withRevision(ctx, tag, changed);
    },
  );
}
