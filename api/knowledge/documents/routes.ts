import { z } from 'zod';
import {
  documentReview,
  trackedDocument,
  trackedDocumentCreate,
  trackedDocumentId,
  trackedDocumentLimit,
  trackedDocumentPatch,
  trackedDocumentQuery,
} from '../../../contracts/knowledge/document';
import { validationError } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import { compact } from '../../../platform/json/compact';
import { slicePage } from '../../../platform/lists/slice';
import { operationTime } from '../../../platform/operations/operation';
import type { ApiContext } from '../../context';
import { recordRoutes } from '../../record-routes';
import { newItemId } from '../../tasks/tasks/items';
import { plainField } from '../../tasks/tasks/plain-text';
import { type DocumentRecord, present } from './freshness';
import { freshnessAlertRoutes } from './routes.alerts';

const tag = 'doc-freshness';
const idParams = z.strictObject({ id: trackedDocumentId });
const write = { tag, permission: 'settings:write', errors: [409] };

/** @throws AppError 400 when the title is empty without its tags */
const plainTitle = (title: string | undefined) => (title === undefined ? {} : { title: plainField(title, 'title') });

/** Documents that are to be reviewed from time to time (specification 1, Registries and analysis). */
export function docFreshnessRoutes(routes: Routes, context: Pick<ApiContext, 'trackedDocuments'>): void {
  freshnessAlertRoutes(routes, context);

  const documents = recordRoutes(routes, {
    records: context.trackedDocuments,
    resource: 'document',
    type: tag,
    path: '/doc-freshness',
    id: 'id',
    params: idParams,
    response: trackedDocument,
    permissions: { read: 'settings:read', write: write.permission },
    max: trackedDocumentLimit,
    // What is tracked now is as old as the request, also when that is repeated.
    present: (record: DocumentRecord) => present(record, operationTime()),
  });

  documents.list(
    {
      operationId: 'listTrackedDocuments',
      summary: 'List tracked documents with their freshness, oldest review first',
      query: trackedDocumentQuery,
      response: z.array(trackedDocument),
    },
    (records, { project, type, stale, ...part }) => {
      const now = new Date();
      const matching = records
        .map((record) => present(record, now))
        .filter(
          (one) =>
            (project === undefined || one.project === project) &&
            (type === undefined || one.type === type) &&
            (stale === undefined || one.stale === stale),
        );
      return slicePage(matching, part, { positionOf: ({ reviewedAt, id }) => ({ key: reviewedAt, id }) });
    },
  );

  documents.create(
    {
      operationId: 'trackDocument',
      summary: 'Track a document, reviewed as of now',
      body: trackedDocumentCreate,
      audit: { action: 'tracked-document.create', details: ({ path }) => ({ path }) },
    },
    (body) => {
      const reviewedAt = operationTime().toISOString();
      return {
        id: newItemId('document'),
        fields: compact({ ...body, ...plainTitle(body.title), reviewedAt }),
      };
    },
  );

  documents.get({ operationId: 'getTrackedDocument', summary: 'Read a tracked document with its freshness' });

  documents.patch(
    {
      operationId: 'changeTrackedDocument',
      summary: 'Update a tracked document',
      body: trackedDocumentPatch,
      audit: { action: 'tracked-document.update', details: (body) => ({ fields: Object.keys(body) }) },
    },
    (patch) => {
      const change = { ...patch, ...plainTitle(patch.title) };
      return (current) => compact({ ...current, ...change });
    },
  );

  documents.remove({
    operationId: 'forgetTrackedDocument',
    summary: 'Stop tracking a document',
    audit: { action: 'tracked-document.delete' },
  });

  routes.add(
    {
      ...write,
      method: 'post',
      path: '/doc-freshness/:id/review',
      operationId: 'reviewDocument',
      summary: 'Record a review of a document',
      params: idParams,
      body: documentReview,
      response: trackedDocument,
      audit: ({ params }, { reviewer, reviewedAt }) => ({
        action: 'tracked-document.review',
        resource: params.id,
        details: { reviewer, reviewedAt },
      }),
    },
    async ({ params: { id }, body, header, auth }, ctx) => {
      const now = new Date();
      const reviewedAt = body.reviewedAt ?? now.toISOString();
      if (reviewedAt > now.toISOString()) {
        throw validationError([{ path: 'reviewedAt', message: 'must not be in the future' }]);
      }
      const reviewer = plainField(body.reviewer ?? auth.tokenName, 'reviewer');
      return documents.change(ctx, { id, header }, (current) => ({ ...current, reviewedAt, reviewer }));
    },
  );
}
