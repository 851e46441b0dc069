import { z } from 'zod';
import type { SwitchableFeature } from '../../../contracts/settings/settings';
import {
  dailyDigestQuery,
  type Digest,
  digest,
  operationsDigestQuery,
  operationsPreviewQuery,
  teamsMessage,
} from '../../../contracts/system/digest';
import { digestMarkdown } from '../../../domain/summaries/markdown';
import { digestCard } from '../../../domain/summaries/teams';
import type { Routes } from '../../../platform/http/routing/routes';
import { textResponse } from '../../../platform/http/text-response';
import type { MetricsContext } from '../metrics/read';
import { inTurn } from '../metrics/scan';
import { lastHours, operationsScopeOf, readDigest } from './read';

const setting: SwitchableFeature = 'analyticsEnabled';
const read = { method: 'get' as const, tag: 'digest', permission: 'report:read', setting, errors: [429] };
const response = z.union([digest, teamsMessage]);

const titles = { daily: 'Daily digest', operations: 'Operations digest' };
type Title = (typeof titles)[keyof typeof titles];

const inMarkdown = (answer: Digest, title: Title) => textResponse(digestMarkdown(answer, title), 'text/markdown');

function inFormat(answer: Digest, title: Title, format: 'json' | 'markdown' | 'teams') {
  switch (format) {
    case 'json':
      return answer;
    case 'teams':
      return digestCard(answer, title);
    case 'markdown':
      return inMarkdown(answer, title);
  }
}

/** What happened on the board, for people who were not there (supplement 10.17). */
export function digestRoutes(routes: Routes, context: MetricsContext): void {
  const daily = (caller: string) => inTurn(caller, () => readDigest(context, { period: lastHours(24, context.now()) }));

  routes.add(
    {
      ...read,
      path: '/digest/daily',
      operationId: 'getDailyDigest',
      summary: 'Summarize the last 24 hours as JSON, markdown or a card of Microsoft Teams',
      query: dailyDigestQuery,
      response,
      otherMediaTypes: ['text/markdown'],
    },
    async ({ query: { format }, auth }) => inFormat(await daily(auth.actor), titles.daily, format),
  );

  routes.add(
    {
      ...read,
      path: '/digest/daily/preview',
      operationId: 'previewDailyDigest',
      summary: 'Preview the daily digest as markdown',
      response: z.string(),
      mediaType: 'text/markdown',
    },
    async ({ auth }) => inMarkdown(await daily(auth.actor), titles.daily),
  );

  routes.add(
    {
      ...read,
      path: '/digest/operations',
      operationId: 'getOperationsDigest',
      summary: 'Summarize a period by project, repository or directory',
      query: operationsDigestQuery,
      response,
      otherMediaTypes: ['text/markdown'],
    },
    async ({ query: { format, ...query }, auth }) => {
      const scope = operationsScopeOf(query, context.now());
      return inFormat(await inTurn(auth.actor, () => readDigest(context, scope)), titles.operations, format);
    },
  );

  routes.add(
    {
      ...read,
      path: '/digest/operations/preview',
      operationId: 'previewOperationsDigest',
      summary: 'Preview the operations digest as markdown',
      query: operationsPreviewQuery,
      response: z.string(),
      mediaType: 'text/markdown',
    },
    async ({ query, auth }) => {
      const scope = operationsScopeOf(query, context.now());
      return inMarkdown(await inTurn(auth.actor, () => readDigest(context, scope)), titles.operations);
    },
  );
}
