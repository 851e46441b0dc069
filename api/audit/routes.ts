import { auditPage, auditQuery, auditVerification, auditVerifyQuery } from '../../contracts/audit';
import type { Routes } from '../../platform/http/routes';
import type { ApiContext } from '../context';

const admin = { method: 'get' as const, tag: 'audit', permission: 'admin:manage' };

/** Who did what (specification 2, Policies and governance). */
export function auditRoutes(routes: Routes, { audit }: Pick<ApiContext, 'audit'>): void {
  routes.add(
    {
      ...admin,
      path: '/audit',
      operationId: 'listAudit',
      summary: 'List who did what, the newest first',
      query: auditQuery,
      response: auditPage,
    },
    async ({ query }) => {
      const page = await audit.list(query);
      return page.answer({ entries: page.items, count: page.items.length });
    },
  );

  routes.add(
    {
      ...admin,
      path: '/audit/verify',
      operationId: 'verifyAudit',
      summary: 'Tell whether the audit log of a month, this one unless named, is as it was written',
      query: auditVerifyQuery,
      response: auditVerification,
    },
    ({ query }) => audit.verify(query.month),
  );
}
