import { auditPage, auditQuery, auditVerification, auditVerifyQuery } from '../../../contracts/system/audit';
import type { Routes } from '../../../platform/http/routing/routes';
import type { ApiContext } from '../../context';

const admin = { method: 'get' as const, tag: 'audit', permission: 'admin:manage' };

/** Who did what (specification 2, Policies and governance). */
export function auditRoutes(routes: Routes, { audit }: Pick<ApiContext, 'audit'>): void {
  routes.add(
    {
      ...admin,
      path: '/audit',
      operationId: 'listAudit',
      summary: 'List audit entries, newest first',
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
      summary: 'Verify the integrity of the audit log of a month, by default the current one',
      query: auditVerifyQuery,
      response: auditVerification,
    },
    ({ query }) => audit.verify(query.month),
  );
}
