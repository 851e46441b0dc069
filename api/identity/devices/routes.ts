import { z } from 'zod';
import {
  deviceParams,
  deviceQuery,
  deviceSession,
  deviceTest,
  pairedDevice,
  pairingCode,
  pairingCodeCreate,
  pairingExchange,
} from '../../../contracts/identity/device';
import { workspaceParams } from '../../../contracts/identity/workspace';
import { assertFound } from '../../../platform/errors/app-error';
import type { AuthContext } from '../../../platform/http/auth/auth';
import { assertMayRunAgents, isLocalAgentClient } from '../../../platform/http/auth/local-agent';
import type { HttpContext } from '../../../platform/http/context';
import type { Routes } from '../../../platform/http/routing/routes';
import type { DeviceRecord } from '../../../stores/identity/device-store';
import type { WorkspaceRecord } from '../../../stores/identity/workspace-store';
import type { ApiContext } from '../../context';
import { plainField } from '../../tasks/tasks/plain-text';
import { assertMayGrant, ownMembershipIn, workspaceOf } from '../caller';
import { currentAuthority, statesOf } from '../credential-state';
import { createRedemptions } from '../redemption';
import { assertScopesOf } from '../tokens/routes';
import { exchange, type ExchangeContext } from './exchange';
import { presentDevice } from './present';

const tag = 'identity';
const permission = 'admin:manage';
const workspacePath = '/identity/workspaces/:workspaceId';
const path = `${workspacePath}/device-sessions`;

/** Paired desktops, phones, command lines and other clients. */
export function deviceRoutes(
  routes: Routes,
  context: ExchangeContext & Pick<ApiContext, 'env' | 'rates' | 'recordAudit'>,
): void {
  const { pairingCodes, devices, now } = context;
  const redeem = createRedemptions(context);

  routes.add(
    {
      method: 'post',
      path: `${workspacePath}/device-pairing-codes`,
      operationId: 'createPairingCode',
      // A code is returned once and stored nowhere: a repetition makes another one.
      idempotency: 'none',
      summary: 'Create a code that pairs one device within five minutes; it is shown once',
      tag,
      permission,
      params: workspaceParams,
      body: pairingCodeCreate,
      response: pairingCode,
      status: 201,
      errors: [409],
      audit: ({ body }, { id, workspaceId }) => ({
        action: 'device-pairing.create',
        resource: id,
        details: { workspaceId, ...body },
      }),
    },
    async ({ auth, params, body }, ctx) => {
      const workspace = await workspaceOf(context, auth, params.workspaceId);
      assertScopesOf(body.role, body.scopes);
      assertMayGrant(auth, body.scopes);
      if (isLocalAgentClient(body)) {
        assertMayRunAgents(auth, { headers: ctx.req.headers, connection: ctx.req.socket });
      }
      const { id: membershipId, userId } = ownMembershipIn(workspace, auth);
      const deviceName = plainField(body.deviceName, 'deviceName');
      const { record, code } = await pairingCodes.create({
        ...body,
        deviceName,
        workspaceId: workspace.id,
        userId,
        membershipId,
        createdBy: auth.actor,
      });
      const { _id: id, clientMode, capabilities, scopes, role, createdAt, expiresAt, workspaceId } = record;
      return {
        ...{ id, workspaceId, deviceName, clientMode, capabilities, scopes, role, createdAt, expiresAt },
        code,
        pairingLink: linkOf(ctx, { code, workspaceId }),
      };
    },
  );

  routes.add(
    {
      method: 'post',
      path: '/auth/device-pairing/exchange',
      operationId: 'exchangePairingCode',
      idempotency: 'none',
      summary: 'Request the session of a device for a pairing code; its token is shown once',
      tag: 'auth',
      permission: 'public',
      body: pairingExchange,
      response: pairedDevice,
      status: 201,
      errors: [401, 409, 410, 429],
    },
    ({ body }, ctx) => redeem(ctx, { what: 'device-pairing', code: body.code }, () => exchange(context, body)),
  );

  routes.add(
    {
      method: 'get',
      path,
      operationId: 'listDeviceSessions',
      summary: 'List the paired devices of a workspace, newest first',
      tag,
      permission,
      params: workspaceParams,
      query: deviceQuery,
      response: z.array(deviceSession),
      errors: [409],
    },
    async ({ auth, params, query }) => {
      const workspace = await workspaceOf(context, auth, params.workspaceId);
      const page = await devices.list(workspace.id, query);
      const states = await statesOf(context, workspace, { credentials: page.items, at: now() });
      return page.map((record) => presentDevice(record, states.get(record._id) ?? 'orphaned'));
    },
  );

  routes.add(
    {
      method: 'post',
      path: `${path}/:id/test`,
      operationId: 'testDeviceSession',
      summary: 'Test whether a paired device is accepted, and what it may do now',
      tag,
      permission,
      params: deviceParams,
      response: deviceTest,
      errors: [409],
    },
    async ({ auth, params }) => {
      const { workspace, record } = await deviceOf(params, auth);
      const tested = (await devices.noteTest(record)) ?? record;
      const states = await statesOf(context, workspace, { credentials: [tested], at: now() });
      const state = states.get(tested._id) ?? 'orphaned';
      const authority = state === 'active' ? await currentAuthority(context, tested) : undefined;
      return {
        session: presentDevice(tested, state),
        accepted: authority !== undefined,
        ...(authority ?? { permissions: [] }),
      };
    },
  );

  routes.add(
    {
      method: 'post',
      path: `${path}/:id/revoke`,
      operationId: 'revokeDeviceSession',
      summary: 'Revoke the session of a paired device at once',
      tag,
      permission,
      params: deviceParams,
      response: deviceSession,
      errors: [409],
      audit: ({ params }) => ({ action: 'device.revoke', resource: params.id }),
    },
    async ({ auth, params }) => {
      const { record } = await deviceOf(params, auth);
      const revoked = await devices.revoke(record, auth.actor);
      assertFound(revoked, 'device session', params.id);
      return presentDevice(revoked, 'revoked');
    },
  );

  async function deviceOf(
    { workspaceId, id }: z.output<typeof deviceParams>,
    auth: AuthContext,
  ): Promise<{ workspace: WorkspaceRecord; record: DeviceRecord }> {
    const workspace = await workspaceOf(context, auth, workspaceId);
    const record = await devices.get(workspaceId, id);
    assertFound(record, 'device session', id);
    return { workspace, record };
  }
}

/** A link for the client on the device, with the service as the administrator has called it. */
function linkOf(ctx: HttpContext, { code, workspaceId }: { code: string; workspaceId: string }): string {
  const query = new URLSearchParams({ code, workspace: workspaceId });
  return `runboard://${ctx.host}/pair?${query.toString()}`;
}
