import { rosterRouteRequest } from '../../../contracts/settings/routing';
import {
  documentToValidate,
  exportQuery,
  importedDocument,
  rosterPreview,
  rosterValidation,
  teamRoster,
} from '../../../contracts/settings/team-roster';
import { notFound } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import { importedValue, sendDocument, validateDocument } from '../../documents';
import { setRevision, settingResource, statedRevision } from '../../revisions';
import { previewRoster, rosterIssues } from './roster';
import type { RoutingContext } from './route';

const tag = 'routing';
const setting = settingResource('team-roster');

/** The members of the team, and the work that each takes. */
export function rosterRoutes(routes: Routes, { routing }: Pick<RoutingContext, 'routing'>): void {
  const { roster } = routing;

  routes.add(
    {
      method: 'get',
      path: '/config/team-roster',
      operationId: 'getTeamRoster',
      summary: 'Read the team roster, or null',
      tag,
      permission: 'settings:read',
      response: teamRoster.nullable(),
    },
    async (_input, ctx) => {
      const { value, revision } = await roster.read();
      setRevision(ctx, { ...setting, revision });
      return value;
    },
  );

  routes.add(
    {
      method: 'put',
      path: '/config/team-roster',
      operationId: 'replaceTeamRoster',
      summary: 'Replace the team roster',
      tag,
      permission: 'settings:write',
      body: teamRoster,
      response: teamRoster,
      errors: [409],
      audit: () => ({ action: 'team-roster.update' }),
    },
    async ({ body, header }, ctx) => {
      const expected = await statedRevision({ ...setting, current: () => roster.read() }, { header });
      const { value, revision } = await roster.replace(body, expected);
      setRevision(ctx, { ...setting, revision });
      return value;
    },
  );

  routes.add(
    {
      method: 'post',
      path: '/config/team-roster/validate',
      operationId: 'validateTeamRoster',
      summary: 'Validate a roster without storing it',
      tag,
      permission: 'settings:read',
      body: documentToValidate,
      response: rosterValidation,
    },
    async ({ body }) => {
      const { value, issues } = validateDocument(teamRoster, body);
      if (!value) {
        return { valid: false, roster: null, issues };
      }
      return { valid: true, roster: value, issues: rosterIssues(value, await routing.inputs()) };
    },
  );

  routes.add(
    {
      method: 'post',
      path: '/config/team-roster/import',
      operationId: 'importTeamRoster',
      summary: 'Import the team roster from YAML or JSON',
      tag,
      permission: 'settings:write',
      body: importedDocument,
      response: teamRoster,
      errors: [409],
      audit: () => ({ action: 'team-roster.import' }),
    },
    async ({ body, header }, ctx) => {
      const imported = importedValue(teamRoster, body);
      const expected = await statedRevision({ ...setting, current: () => roster.read() }, { header });
      const { value, revision } = await roster.replace(imported, expected);
      setRevision(ctx, { ...setting, revision });
      return value;
    },
  );

  routes.add(
    {
      method: 'get',
      path: '/config/team-roster/export',
      operationId: 'exportTeamRoster',
      summary: 'Export the team roster as YAML or JSON',
      tag,
      permission: 'settings:read',
      query: exportQuery,
      response: teamRoster,
      otherMediaTypes: ['application/yaml'],
      errors: [404],
    },
    async ({ query }, ctx) => {
      const { value } = await roster.read();
      if (!value) {
        throw notFound('team roster', 'team-roster');
      }
      sendDocument(ctx, 'team-roster', { value, format: query.format });
      return undefined;
    },
  );

  routes.add(
    {
      method: 'post',
      path: '/config/team-roster/preview-route',
      operationId: 'previewTeamRoster',
      summary: 'Resolve which team member gets a piece of work',
      tag,
      permission: 'settings:read',
      body: rosterRouteRequest,
      response: rosterPreview,
    },
    async ({ body }) => previewRoster(await routing.inputs(), body),
  );
}
