import { z } from 'zod';
import {
  brandWrite,
  type Report,
  report,
  type ReportBrand,
  reportGenerate,
  reportId,
  reportQuery,
  reportTemplate,
  reportTemplateInfo,
  storedBrand,
} from '../../../contracts/system/report';
import { assertFound, conflict, notFound } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import { textResponse } from '../../../platform/http/text-response';
import { compact } from '../../../platform/json/compact';
import { operationTime } from '../../../platform/operations/operation';
import { maxReports } from '../../../stores/system/report-store';
import type { ApiContext } from '../../context';
import { setRevision, settingResource, statedRevision } from '../../revisions';
import { newItemId } from '../../tasks/tasks/items';
import { pagePolicy, reportPage, templates } from './page';

const tag = 'reports';
const read = { method: 'get' as const, tag, permission: 'report:read' };
const write = { tag, permission: 'settings:write' };
const idParams = z.strictObject({ id: reportId });
const brandResource = settingResource('report-brand');

const defaultBrand: ReportBrand & { revision: number } = {
  name: 'Runboard',
  color: '#1f4e79',
  footer: '',
  revision: 0,
};

/** Reports made of markdown, with the brand of the workspace (supplement 10.13). */
export function reportRoutes(routes: Routes, { reports }: Pick<ApiContext, 'reports'>): void {
  const brandNow = async () => {
    const { name, color, footer, revision } = (await reports.brand()) ?? defaultBrand;
    return { name, color, footer, revision };
  };

  routes.add(
    {
      ...read,
      path: '/reports/templates',
      operationId: 'listReportTemplates',
      summary: 'List the templates of reports',
      response: z.array(reportTemplateInfo),
    },
    async () => reportTemplate.options.map((id) => ({ id, ...templates[id] })),
  );

  routes.add(
    {
      ...read,
      path: '/reports/brand',
      operationId: 'getReportBrand',
      summary: 'Read the brand of reports',
      response: storedBrand,
    },
    async (_input, ctx) => {
      const brand = await brandNow();
      setRevision(ctx, { ...brandResource, revision: brand.revision });
      return brand;
    },
  );

  routes.add(
    {
      ...write,
      method: 'put',
      path: '/reports/brand',
      operationId: 'setReportBrand',
      summary: 'Replace the brand of reports',
      body: brandWrite,
      response: storedBrand,
      errors: [409],
      audit: (_request, { revision }) => ({ action: 'reports.brand', details: { revision } }),
    },
    async ({ body: { expectedRevision: bodyRevision, ...brand }, header }, ctx) => {
      const expected = await statedRevision({ ...brandResource, current: brandNow }, { header, bodyRevision });
      const { name, color, footer, revision } = await reports.setBrand(brand, expected);
      setRevision(ctx, { ...brandResource, revision });
      return { name, color, footer, revision };
    },
  );

  routes.add(
    {
      ...read,
      method: 'post',
      path: '/reports/generate',
      operationId: 'generateReport',
      summary: 'Create a report as a page of HTML from markdown',
      body: reportGenerate,
      response: report,
      status: 201,
      errors: [409],
      audit: (_request, { id }) => ({ action: 'reports.generate', resource: id }),
    },
    async ({ body: { content, brand: difference, ...fields }, auth }) => {
      if ((await reports.count()) >= maxReports) {
        throw conflict(`There are ${maxReports} reports; delete one first.`, {
          resourceType: 'report',
          limit: maxReports,
        });
      }
      const { revision: _revision, ...brand } = await brandNow();
      const made = {
        ...compact(fields),
        id: newItemId('report'),
        includeToc: fields.includeToc ?? templates[fields.template].includeToc,
        brand: { ...brand, ...compact(difference ?? {}) },
        generatedAt: operationTime().toISOString(),
        generatedBy: auth.actor,
      };
      const html = reportPage(made, content);
      const stored: Report = { ...made, size: Buffer.byteLength(html) };
      await reports.add(stored, html);
      return stored;
    },
  );

  routes.add(
    {
      ...read,
      path: '/reports',
      operationId: 'listReports',
      summary: 'List reports, newest first',
      query: reportQuery,
      response: z.array(report),
    },
    ({ query }) => reports.list(query),
  );

  routes.add(
    {
      ...read,
      path: '/reports/:id',
      operationId: 'getReport',
      summary: 'Read a report',
      params: idParams,
      response: report,
    },
    async ({ params: { id } }) => {
      const stored = await reports.get(id);
      assertFound(stored, 'report', id);
      return stored;
    },
  );

  routes.add(
    {
      ...read,
      path: '/reports/:id/html',
      operationId: 'getReportPage',
      summary: 'Read the page of a report',
      params: idParams,
      response: z.string(),
      mediaType: 'text/html',
    },
    async ({ params: { id } }) => {
      const [stored, page] = await Promise.all([reports.get(id), reports.page(id)]);
      assertFound(stored && page, 'report', id);
      return textResponse(page ?? '', 'text/html', {
        'Content-Security-Policy': pagePolicy(stored?.brand.color ?? ''),
        'Referrer-Policy': 'no-referrer',
      });
    },
  );

  routes.add(
    {
      ...write,
      method: 'delete',
      path: '/reports/:id',
      operationId: 'deleteReport',
      summary: 'Delete a report',
      params: idParams,
      response: z.undefined(),
      status: 204,
      audit: ({ params }) => ({ action: 'reports.delete', resource: params.id }),
    },
    async ({ params: { id } }) => {
      if (!(await reports.remove(id))) {
        throw notFound('report', id);
      }
      return undefined;
    },
  );
}
