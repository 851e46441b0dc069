import { z } from 'zod';
import {
  documentReview,
  trackedDocument,
  trackedDocumentCreate,
  trackedDocumentId,
  trackedDocumentLimit,
  trackedDocumentPatch,
  trackedDocumentQuery,
  type TrackedDocumentFields,
} from '../../contracts/tracked-document';
import { assertFound, conflict, notFound, validationError } from '../../platform/errors/app-error';
import { expectedRevision, statedRevisions } from '../../platform/http/precondition';
import type { Routes } from '../../platform/http/routes';
import { slicePage } from '../../platform/lists/slice';
import { withoutUndefined } from '../../platform/json/without-undefined';
import { operationTime } from '../../platform/operations/operation';
import { ownFields } from '../../stores/configured-records';
import { assertRevision, withRevision } from '../config/revisions';
import type { ApiContext } from '../context';
import { newItemId } from '../tasks/items';
import { plainField } from '../tasks/plain-text';
import { present, type DocumentRecord } from './freshness';
import { freshnessAlertRoutes } from './routes.alerts';

const tag = 'doc-freshness';
const byId = z.strictObject({ id: trackedDocumentId });
const read = { method: 'get' as const, tag, permission: 'settings:read' };
const write = { tag, permission: 'settings:write', errors: [409] };

type Headers = (name: string) => string | undefined;

/** @throws AppError 400 when nothing is left of the title without its tags */
const plainTitle = (title: string | undefined) => (title === undefined ? {} : { title: plainField(title, 'title') });

/** Documents that somebody is to look at from time to time (specification 1, Registries and analysis). */
export function docFreshnessRoutes(routes: Routes, context: Pick<ApiContext, 'trackedDocuments'>): void {
  const { trackedDocuments } = context;
  freshnessAlertRoutes(routes, context);

  async function find(id: string): Promise<DocumentRecord> {
    const found = await trackedDocuments.get(id);
    assertFound(found, 'document', id);
    return found;
  }

  const stated = (id: string, header: Headers, bodyRevision?: number): Promise<number | undefined> =>
    expectedRevision(statedRevisions(tag, id, { header, bodyRevision }), async () => (await find(id)).revision);

  const changeAt = (id: string, expected: number | undefined, change: Partial<TrackedDocumentFields>) =>
    trackedDocuments.change(id, (current) => {
      assertFound(current, 'document', id);
      assertRevision('document', current, expected, present(current, new Date()));
      return withoutUndefined({ ...ownFields(current), ...change });
    });

  routes.add(
    {
      ...read,
      path: '/doc-freshness',
      operationId: 'listTrackedDocuments',
      summary: 'List the tracked documents and how fresh they are, the oldest review first',
      query: trackedDocumentQuery,
      response: z.array(trackedDocument),
    },
    async ({ query: { project, type, stale, ...part } }) => {
      const now = new Date();
      const all = (await trackedDocuments.list()).map((record) => present(record, now));
      const found = all.filter(
        (one) =>
          (project === undefined || one.project === project) &&
          (type === undefined || one.type === type) &&
          (stale === undefined || one.stale === stale),
      );
      return slicePage(found, part, ({ reviewedAt, id }) => ({ key: reviewedAt, id }));
    },
  );

  routes.add(
    {
      ...write,
      method: 'post',
      path: '/doc-freshness',
      operationId: 'trackDocument',
      summary: 'Track a document; it counts as reviewed now',
      body: trackedDocumentCreate,
      response: trackedDocument,
      status: 201,
    },
    async ({ body }, ctx) => {
      const now = operationTime();
      const fields = withoutUndefined({ ...body, ...plainTitle(body.title), reviewedAt: now.toISOString() });
      if ((await trackedDocuments.list()).length >= trackedDocumentLimit)
        throw conflict(`There may be at most ${trackedDocumentLimit} tracked documents.`, { resourceType: 'document' });
      return present(withRevision(ctx, tag, await trackedDocuments.create(newItemId('document'), fields)), now);
    },
  );

  routes.add(
    {
      ...read,
      path: '/doc-freshness/:id',
      operationId: 'getTrackedDocument',
      summary: 'Read one tracked document and how fresh it is',
      params: byId,
      response: trackedDocument,
    },
    async ({ params }, ctx) => present(withRevision(ctx, tag, await find(params.id)), new Date()),
  );

  routes.add(
    {
      ...write,
      method: 'patch',
      path: '/doc-freshness/:id',
      operationId: 'changeTrackedDocument',
      summary: 'Change what is known of a tracked document',
      params: byId,
      body: trackedDocumentPatch,
      response: trackedDocument,
    },
    async ({ params: { id }, body: { expectedRevision: bodyRevision, ...patch }, header }, ctx) => {
      const change = { ...patch, ...plainTitle(patch.title) };
      const changed = await changeAt(id, await stated(id, header, bodyRevision), change);
      return present(withRevision(ctx, tag, changed), new Date());
    },
  );

  routes.add(
    {
      ...write,
      method: 'delete',
      path: '/doc-freshness/:id',
      operationId: 'forgetTrackedDocument',
      summary: 'Track a document no longer',
      params: byId,
      response: z.undefined(),
      status: 204,
    },
    async ({ params: { id }, header }) => {
      const expected = await stated(id, header);
      const current = await find(id);
      assertRevision('document', current, expected, present(current, new Date()));
      if (!(await trackedDocuments.remove(id, expected))) throw notFound('document', id);
      return undefined;
    },
  );

  routes.add(
    {
      ...write,
      method: 'post',
      path: '/doc-freshness/:id/review',
      operationId: 'reviewDocument',
      summary: 'Say that somebody has looked at a document and it is right',
      params: byId,
      body: documentReview,
      response: trackedDocument,
    },
    async ({ params: { id }, body, header, auth }, ctx) => {
      const now = new Date();
      const reviewedAt = body.reviewedAt ?? now.toISOString();
      if (reviewedAt > now.toISOString())
        throw validationError([{ path: 'reviewedAt', message: 'must not be in the future' }]);
      const reviewer = plainField(body.reviewer ?? auth.tokenName, 'reviewer');
      const changed = await changeAt(id, await stated(id, header), { reviewedAt, reviewer });
      return present(withRevision(ctx, tag, changed), now);
    },
  );
}
