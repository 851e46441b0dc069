import { createHash } from 'node:crypto';
import { RefusedError } from '../../../domain/refusal';
import { exchangedToken, newSecretToken, secretTokenText } from '../../../platform/crypto/secret-token';
import { createDeviceStore, maxDevices, type NewDevice } from '../../../stores/identity/device-store';
import { createInvitationStore } from '../../../stores/identity/invitation-store';
import { createPairingCodeStore, maxOpenCodes } from '../../../stores/identity/pairing-code-store';
import { createTokenStore, maxTokens, type NewToken } from '../../../stores/identity/token-store';
import { createUserStore } from '../../../stores/identity/user-store';
import { createWorkspaceStore, maxWorkspaces, newMembershipId } from '../../../stores/identity/workspace-store';
import type { Stored } from '../../../stores/port/collection';
import { type StoreHarness, uniqueName, useTwoConnections } from './harness';

const codesOf = (outcomes: PromiseSettledResult<unknown>[]): unknown[] =>
  outcomes.map((one) => {
    if (one.status === 'fulfilled') {
      return 'done';
    }
    return one.reason instanceof RefusedError ? one.reason.refusal.code : one.reason;
  });

const count = (codes: unknown[], code: string): number => codes.filter((one) => one === code).length;

/** People, workspaces and what they sign in with, on every adapter. */
export function identityContract(harness: StoreHarness): void {
  describe('identity', () => {
    const stores = useTwoConnections(harness);
    const workspaceOfTwo = async () => {
      const [one, other] = await Promise.all([createWorkspaceStore(stores.one), createWorkspaceStore(stores.other)]);
      const [ada, eve] = [newMembershipId(), newMembershipId()];
      const { id } = await one.create(uniqueName(), 'Two', { id: ada, userId: 'user_ada' });
      const joinedAt = new Date().toISOString();
      await one.join(id, { id: eve, userId: 'user_eve', role: 'admin', status: 'active', joinedAt });
      return { id, ada, eve, one, other };
    };
    const aToken = (fields: Partial<NewToken> = {}): NewToken => ({
      workspaceId: uniqueName(),
      name: 'ci',
      subject: 'service',
      userId: 'local-user',
      membershipId: 'member_000000000000',
      role: 'agent',
      createdBy: 'service:admin',
      ...fields,
    });

    it('has its owner and the workspace local once, however many processes start', async () => {
      const databases = [stores.one, stores.other, stores.one, stores.other];
      const opened = await Promise.all(databases.map((database) => createWorkspaceStore(database)));
      const users = await Promise.all(databases.map((database) => createUserStore(database)));
      for (const [n, workspaces] of opened.entries()) {
        expect(await workspaces.membership('local', 'local-user')).toMatchObject({ role: 'admin', status: 'active' });
        expect(await users[n]?.get('local-user')).toMatchObject({ status: 'active' });
      }
    });

    it('leaves a workspace an administrator when two demote or remove each other at the same moment', async () => {
      for (const how of ['changeMember', 'removeMember'] as const) {
        const { id, ada, eve, one, other } = await workspaceOfTwo();
        const demote = (store: typeof one, member: string) =>
          how === 'changeMember' ? store.changeMember(id, member, { role: 'agent' }) : store.removeMember(id, member);
        const codes = codesOf(await Promise.allSettled([demote(one, ada), demote(other, eve)]));
        expect(codes.sort()).toEqual(['LAST_ADMIN', 'done']);
        const { members } = (await one.get(id))!;
        expect(members.filter(({ role }) => role === 'admin')).toHaveLength(1);
      }
    });

    it('reports a member as it was and as it is, and each of them only', async () => {
      const { id, ada, eve, one } = await workspaceOfTwo();
      expect(await one.changeMember(id, eve, { role: 'agent' })).toMatchObject({
        before: { id: eve, role: 'admin' },
        after: { id: eve, role: 'agent' },
      });
      const removed = await one.removeMember(id, eve);
      expect([removed.before.id, removed.after]).toEqual([eve, undefined]);
      expect((await one.get(id))?.members.map((member) => member.id)).toEqual([ada]);
      expect([await one.exists(id), await one.exists('nowhere')]).toEqual([true, false]);
      expect(codesOf(await Promise.allSettled([one.removeMember('nowhere', ada)]))).toEqual(['NOT_FOUND']);
    });

    it('lets an invitation be accepted once, however many try at the same moment', async () => {
      const { id, one, other } = await workspaceOfTwo();
      const invitations = await createInvitationStore(stores.one);
      const fields = { workspaceId: id, email: 'bob@example.org', role: 'agent' as const, createdBy: 'user:user_ada' };
      const { record, token } = await invitations.create(fields);
      await one.invite(id, { id: record._id, email: fields.email, role: 'agent', expiresAt: record.expiresAt });
      expect((await invitations.ofToken(token))?.record).toEqual(record);
      const forged = secretTokenText('rbi', newSecretToken(token.split('_')[1]));
      const absent = secretTokenText('rbi', newSecretToken());
      expect([await invitations.ofToken(forged), await invitations.ofToken(absent)]).toEqual([undefined, undefined]);
      expect(JSON.stringify(record)).not.toContain(token.slice(-43));
      const tries = Array.from({ length: 6 }, (_each, n) =>
        (n % 2 ? one : other).accept(id, record._id, { id: newMembershipId(), userId: `user_${n}` }),
      );
      const codes = codesOf(await Promise.allSettled(tries));
      expect([count(codes, 'done'), count(codes, 'INVITATION_NOT_PENDING')]).toEqual([1, 5]);
      expect((await one.get(id))?.members.filter(({ invitationId }) => invitationId === record._id)).toHaveLength(1);
    });

    it('accepts an API token by its secret until it is rotated, with a grace, or revoked', async () => {
      let now = new Date('2026-11-24T12:00:00.000Z');
      const tokens = await createTokenStore(stores.one, () => now);
      const { record, token } = await tokens.create(aToken());
      const isAccepted = async (text: string) => (await tokens.presented(text)) !== undefined;
      const forged = secretTokenText('rbk', newSecretToken(token.split('_')[1]));
      expect([await isAccepted(token), await isAccepted(forged), await isAccepted('rbk_x')]).toEqual([
        true,
        false,
        false,
      ]);
      const rotated = await tokens.rotate(record, { graceMs: 60_000 });
      expect([await isAccepted(token), await isAccepted(rotated.token)]).toEqual([true, true]);
      expect((await tokens.presented(token))?.isFormer).toBe(true);
      now = new Date(now.getTime() + 60_000);
      expect([await isAccepted(token), await isAccepted(rotated.token)]).toEqual([false, true]);
      await expect(tokens.rotate(record, { graceMs: 0 })).rejects.toThrow('no longer at revision');
      await tokens.revoke(record, 'user:user_ada');
      expect(await isAccepted(rotated.token)).toBe(false);
      expect(await tokens.get('elsewhere', record._id)).toBeUndefined();
      const text = JSON.stringify(await tokens.get(record.workspaceId, record._id));
      const secretOf = (one: string) => one.slice('rbk_'.length + 25);
      expect([secretOf(token), secretOf(rotated.token)].filter((secret) => text.includes(secret))).toEqual([]);
    });

    it('has API tokens that expire, and names that are free again once they are revoked', async () => {
      let now = new Date('2026-11-24T12:00:00.000Z');
      const tokens = await createTokenStore(stores.one, () => now);
      const fields = aToken({ expiresAt: '2026-11-24T12:01:00.000Z' });
      const { record, token } = await tokens.create(fields);
      expect(codesOf(await Promise.allSettled([tokens.create({ ...fields, name: 'CI' })]))).toEqual(['NAME_TAKEN']);
      now = new Date('2026-11-24T12:01:00.000Z');
      expect(await tokens.presented(token)).toBeUndefined();
      await tokens.revoke(record, 'user:user_ada');
      await tokens.create(fields);
    });

    it('remembers who revoked an API token first, and rotates it no more', async () => {
      const tokens = await createTokenStore(stores.one);
      const { record } = await tokens.create(aToken());
      const revoked = await tokens.revoke(record, 'user:user_ada');
      expect(revoked).toMatchObject({ isRevoked: true, revokedBy: 'user:user_ada', revision: 2 });
      expect(await tokens.revoke(record, 'user:user_eve')).toEqual(revoked);
      await expect(tokens.rotate(revoked!, { graceMs: 0 })).rejects.toThrow('no longer at revision');
    });

    it('has one API token for an exchange, which takes nothing from those of others', async () => {
      const tokens = await createTokenStore(stores.one);
      const fields = aToken({ subject: 'user', name: uniqueName() });
      const exchanged = exchangedToken(newSecretToken().secret, 'acceptance');
      const made = await Promise.all([1, 2, 3].map(() => tokens.createExchanged(fields, exchanged)));
      expect(new Set(made.map(({ token }) => token)).size).toBe(1);
      expect((await tokens.list(fields.workspaceId, { limit: 10 })).items).toHaveLength(1);
      const again = tokens.createExchanged(fields, exchangedToken(newSecretToken().secret, 'another'));
      expect(codesOf(await Promise.allSettled([again]))).toEqual(['NAME_TAKEN']);
    });

    it('has no more API tokens of programs than the limit, and those of people beside them', async () => {
      const { workspaceId } = aToken();
      const collection = await stores.one.collection<Stored>({ name: 'api-tokens' });
      const tokens = await createTokenStore(stores.one);
      const { record } = await tokens.create(aToken({ workspaceId }));
      for (let n = 1; n < maxTokens; n += 1) {
        await collection.insert({ ...record, _id: `${record._id}-${n}`, nameKey: `${n}` } as Stored);
      }
      expect(codesOf(await Promise.allSettled([tokens.create(aToken({ workspaceId, name: 'more' }))]))).toEqual([
        'IDENTITY_LIMIT_REACHED',
      ]);
      await tokens.create(aToken({ workspaceId, name: 'person', subject: 'user' }));
      await tokens.revoke(record, 'user:user_ada');
      await tokens.create(aToken({ workspaceId, name: 'more' }));
    });

    it('records the use of an API token once a minute', async () => {
      let now = new Date('2026-11-24T12:00:00.000Z');
      const tokens = await createTokenStore(stores.one, () => now);
      const { record, token } = await tokens.create(aToken());
      const use = async () => {
        const presented = await tokens.presented(token);
        await tokens.noteUse(presented!.record);
        return (await tokens.get(record.workspaceId, record._id))?.lastUsedAt;
      };
      expect(await use()).toBe('2026-11-24T12:00:00.000Z');
      now = new Date('2026-11-24T12:00:59.999Z');
      expect(await use()).toBe('2026-11-24T12:00:00.000Z');
      now = new Date('2026-11-24T12:01:00.000Z');
      expect(await use()).toBe('2026-11-24T12:01:00.000Z');
    });

    it('has no more open pairing codes than the limit, however many are made at the same moment', async () => {
      const codes = await createPairingCodeStore(stores.one);
      const workspaceId = uniqueName();
      const aCode = () =>
        codes.create({
          ...{ workspaceId, userId: 'local-user', membershipId: 'member_000000000000', createdBy: 'service:admin' },
          ...{ deviceName: 'Phone', clientMode: 'mobile', capabilities: [], scopes: ['task:read'], role: 'agent' },
        });
      for (let n = 0; n < maxOpenCodes - 2; n += 1) {
        await aCode();
      }
      const outcomes = codesOf(await Promise.allSettled(Array.from({ length: 6 }, aCode)));
      expect(count(outcomes, 'done')).toBeLessThanOrEqual(2);
      expect(count(outcomes, 'done') + count(outcomes, 'IDENTITY_LIMIT_REACHED')).toBe(6);
    });

    it('uses a pairing code and a nonce for one exchange, and again for the same one', async () => {
      const [one, other] = await Promise.all([
        createPairingCodeStore(stores.one),
        createPairingCodeStore(stores.other),
      ]);
      const { record, code } = await one.create({
        ...{ workspaceId: uniqueName(), userId: 'u', membershipId: 'm', createdBy: 'service:admin' },
        ...{ deviceName: 'Phone', clientMode: 'mobile', capabilities: [], scopes: ['task:read'], role: 'agent' },
      });
      expect((await other.ofText(code))?.record).toEqual(record);
      expect(await other.ofText(`${code.slice(0, -1)}!`)).toBeUndefined();
      const digests = Array.from({ length: 6 }, (_each, n) => `exchange ${n}`);
      const used = await Promise.all(digests.map((digest, n) => (n % 2 ? one : other).use(record, digest)));
      expect(used.filter(Boolean)).toHaveLength(1);
      const winner = digests[used.indexOf(true)]!;
      expect(await one.use(record, winner)).toBe(true);
      const nonce = uniqueName();
      expect([await one.claimNonce(nonce, winner), await other.claimNonce(nonce, winner)]).toEqual([true, true]);
      expect(await other.claimNonce(nonce, 'another')).toBe(false);
    });

    it('uses no pairing code that has expired', async () => {
      let now = new Date('2026-11-24T12:00:00.000Z');
      const codes = await createPairingCodeStore(stores.one, () => now);
      const { record } = await codes.create({
        ...{ workspaceId: uniqueName(), userId: 'u', membershipId: 'm', createdBy: 'service:admin' },
        ...{ deviceName: 'Phone', clientMode: 'mobile', capabilities: [], scopes: ['task:read'], role: 'agent' },
      });
      now = new Date(record.expiresAt);
      expect(await codes.use(record, 'exchange')).toBe(false);
    });

    it('has one session of a device, however often its exchange is repeated, until it is revoked or expires', async () => {
      let now = new Date('2026-11-24T12:00:00.000Z');
      const devices = await createDeviceStore(stores.one, () => now);
      const fields: NewDevice = {
        ...{
          workspaceId: uniqueName(),
          userId: 'u',
          membershipId: 'm',
          deviceName: 'Phone',
          deviceId: 'd',
          clientId: 'c',
        },
        ...{ clientMode: 'mobile', capabilities: [], role: 'agent', scopes: ['task:read'], keyFingerprint: 'f' },
      };
      const token = exchangedToken(newSecretToken().secret, 'exchange');
      const made = await Promise.all([1, 2, 3].map(() => devices.createOnce(fields, token)));
      expect(new Set(made.map(({ _id }) => _id)).size).toBe(1);
      expect((await devices.list(fields.workspaceId, { limit: 10 })).items).toHaveLength(1);
      const text = secretTokenText('rbd', token);
      expect(await devices.presented(text)).toMatchObject({ deviceName: 'Phone' });
      expect(await devices.presented(secretTokenText('rbd', newSecretToken(token.id)))).toBeUndefined();
      now = new Date(Date.parse(made[0]!.expiresAt));
      expect(await devices.presented(text)).toBeUndefined();
      now = new Date('2026-11-24T12:00:00.000Z');
      expect(await devices.get(fields.workspaceId, made[0]!._id)).toMatchObject({ deviceName: 'Phone' });
      expect(await devices.get('elsewhere', made[0]!._id)).toBeUndefined();
      expect(await devices.hasRoom(fields.workspaceId)).toBe(true);
      const revoked = await devices.revoke(made[0]!, 'user:user_ada');
      expect(revoked).toMatchObject({ isRevoked: true, revokedBy: 'user:user_ada' });
      expect(await devices.revoke(made[0]!, 'user:user_eve')).toEqual(revoked);
      expect(await devices.presented(text)).toBeUndefined();
      expect(createHash('sha256').update(token.secret).digest('base64url')).toBe(made[0]!.hash);
    });

    it('has no more paired devices and workspaces than the limits', async () => {
      const devices = await createDeviceStore(stores.one);
      const collection = await stores.one.collection<Stored>({ name: 'device-sessions' });
      const fields: NewDevice = {
        ...{
          workspaceId: uniqueName(),
          userId: 'u',
          membershipId: 'm',
          deviceName: 'Phone',
          deviceId: 'd',
          clientId: 'c',
        },
        ...{ clientMode: 'mobile', capabilities: [], role: 'agent', scopes: ['task:read'], keyFingerprint: 'f' },
      };
      const record = await devices.createOnce(fields, newSecretToken());
      for (let n = 1; n < maxDevices; n += 1) {
        await collection.insert({ ...record, _id: `${record._id}-${n}` });
      }
      expect(await devices.hasRoom(fields.workspaceId)).toBe(false);
      const more = () => devices.createOnce(fields, newSecretToken());
      expect(codesOf(await Promise.allSettled([more()]))).toEqual(['IDENTITY_LIMIT_REACHED']);
      await devices.revoke(record, 'user:user_ada');
      await more();

      const workspaces = await createWorkspaceStore(stores.one);
      const create = () => workspaces.create(uniqueName(), 'One more', { id: newMembershipId(), userId: 'user_ada' });
      for (let n = (await workspaces.list()).length; n < maxWorkspaces; n += 1) {
        await create();
      }
      expect(codesOf(await Promise.allSettled([create()]))).toEqual(['IDENTITY_LIMIT_REACHED']);
    });
  });
}
