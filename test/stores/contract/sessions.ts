import { createOidcStore } from '../../../stores/identity/oidc-store';
import { createGuessStore, freeGuesses, lockMs } from '../../../stores/identity/sessions/guess-store';
import { createPasswordStore } from '../../../stores/identity/sessions/password-store';
import { maxFormerSecrets, openSessionSecrets } from '../../../stores/identity/sessions/session-secret-store';
import { createSessionStore, maxSessions, type SessionRecord } from '../../../stores/identity/sessions/session-store';
import { createSetupCodeStore } from '../../../stores/identity/sessions/setup-code-store';
import { createWsTicketStore } from '../../../stores/identity/sessions/ws-ticket-store';
import { type StoreHarness, uniqueName, useTwoConnections } from './harness';

const aSession = (fields: Partial<SessionRecord> = {}): SessionRecord => ({
  _id: uniqueName(),
  userId: 'ada',
  workspaceId: 'local',
  role: 'admin',
  method: 'password',
  passwordRevision: 1,
  createdAt: '2026-11-22T00:00:00.000Z',
  lastUsedAt: '2026-11-22T00:00:00.000Z',
  expiresAt: '2099-11-22T00:00:00.000Z',
  remembered: false,
  ...fields,
});

/** Signing in, on every adapter and by several processes. */
export function sessionsContract(harness: StoreHarness): void {
  describe('signing in', () => {
    const stores = useTwoConnections(harness);

    it('takes so many guesses, whichever processes are asked at once, and longer waits after each further one', async () => {
      let now = new Date('2026-11-22T00:00:00.000Z');
      const [one, other] = [
        await createGuessStore(stores.one, () => now),
        await createGuessStore(stores.other, () => now),
      ];
      const keys = [uniqueName(), uniqueName()];
      const begun = await Promise.all(
        Array.from({ length: 12 }, (_each, n) => (n % 2 === 0 ? one : other).begin(keys)),
      );
      expect(begun.filter((until) => until === undefined).length).toBeLessThanOrEqual(freeGuesses);
      expect(new Set(begun.filter(Boolean))).toEqual(new Set(['2026-11-22T00:01:00.000Z']));
      expect(await other.lockedUntil(keys[0]!)).toBe('2026-11-22T00:01:00.000Z');
      now = new Date('2026-11-22T00:01:00.000Z');
      expect(await other.begin(keys)).toBeUndefined();
      expect(await one.begin(keys)).toBe('2026-11-22T00:03:00.000Z');
      expect([5, 6, 7, 100].map(lockMs)).toEqual([60_000, 120_000, 240_000, 3_600_000]);
      await one.forget(keys);
      expect(await other.begin(keys)).toBeUndefined();
      now = new Date('2026-11-24T00:00:00.000Z');
      await other.begin(keys);
      expect(await one.lockedUntil(keys[0]!)).toBeUndefined();
    });

    it('sets a first password once, and replaces the one that was seen', async () => {
      const [one, other] = [await createPasswordStore(stores.one), await createPasswordStore(stores.other)];
      const user = uniqueName();
      const hashes = { passwordHash: 'a', recoveryHash: 'b' };
      const set = await Promise.all([one, other].map((store) => store.create(user, hashes)));
      expect(set.filter(Boolean)).toHaveLength(1);
      const seen = (await other.get(user))!;
      const replaced = await Promise.all([one, other].map((store) => store.replace(seen, { passwordHash: 'c' })));
      expect(replaced.filter(Boolean)).toMatchObject([{ passwordHash: 'c', recoveryHash: 'b', revision: 2 }]);
    });

    it('keeps sessions until they expire or are ended, and of each user the newest', async () => {
      const sessions = await createSessionStore(stores.one, () => new Date('2026-11-22T01:00:00.000Z'));
      const userId = uniqueName();
      const [open, expired] = [aSession({ userId }), aSession({ userId, expiresAt: '2026-11-22T01:00:00.000Z' })];
      await sessions.add(open);
      await sessions.add(expired);
      expect(await sessions.get(expired._id)).toBeUndefined();
      await sessions.use(open);
      await sessions.use((await sessions.get(open._id))!);
      expect((await sessions.get(open._id))?.lastUsedAt).toBe('2026-11-22T01:00:00.000Z');
      expect(await sessions.selectWorkspace(open._id, 'other')).toMatchObject({ workspaceId: 'other' });
      expect(await sessions.end('eve', open._id)).toBe(false);
      expect([await sessions.end(userId, open._id), await sessions.end(userId, open._id)]).toEqual([true, false]);
      for (let n = 0; n < maxSessions + 5; n += 1) {
        const createdAt = new Date(Date.parse('2026-11-22T00:00:00.000Z') + n * 1_000).toISOString();
        await sessions.add(aSession({ userId, createdAt }));
      }
      const { items } = await sessions.list(userId, { limit: maxSessions + 1 });
      expect(items).toHaveLength(maxSessions);
      expect(items[0]?.createdAt).toBe('2026-11-22T00:01:44.000Z');
      expect(await sessions.endOthers(userId, items[0]?._id)).toBe(maxSessions - 1);
      expect(await sessions.endOthers(userId)).toBe(1);
    });

    it('has one first secret, and a bounded number of former ones for as long as each is valid', async () => {
      let now = new Date('2026-11-22T00:00:00.000Z');
      const [one, other] = await Promise.all(
        [stores.one, stores.other].map((database) => openSessionSecrets(database, () => now)),
      );
      const first = await one!.read();
      expect((await other!.read()).current).toEqual(first.current);
      const [, rotated] = [await one!.rotate(60_000), await other!.rotate(0)];
      expect(rotated?.former.map(({ kid }) => kid)).toContain(first.current.kid);
      expect(new Set([rotated?.current.kid, ...rotated!.former.map(({ kid }) => kid)]).size).toBe(
        rotated!.former.length + 1,
      );
      for (let n = rotated!.former.length; n < maxFormerSecrets; n += 1) {
        await one!.rotate(60_000);
      }
      expect(await other!.rotate(60_000)).toBeUndefined();
      now = new Date('2026-11-22T00:01:00.000Z');
      expect((await other!.read()).former).toEqual([]);
    });

    it('accepts each setup code until one has been used', async () => {
      let now = new Date('2026-11-22T00:00:00.000Z');
      const codes = await createSetupCodeStore(stores.one, () => now);
      const [one, other] = [uniqueName(), uniqueName()];
      await codes.add(one, 1_000);
      await codes.add(other, 1_000);
      expect([await codes.has(one), await codes.has(other), await codes.has('x')]).toEqual([true, true, false]);
      now = new Date('2026-11-22T00:00:01.000Z');
      expect(await codes.has(one)).toBe(false);
      await codes.clear();
      now = new Date('2026-11-22T00:00:00.000Z');
      expect(await codes.has(other)).toBe(false);
    });

    it('gives what a ticket was issued for to one of several that redeem it, in time', async () => {
      let now = new Date('2026-11-22T00:00:00.000Z');
      const [one, other] = [
        await createWsTicketStore(stores.one, () => now),
        await createWsTicketStore(stores.other, () => now),
      ];
      const ticket = await one.issue('a secret', 1_000);
      const wrong = `${ticket.slice(0, -1)}${ticket.endsWith('A') ? 'B' : 'A'}`;
      expect([await other.redeem(wrong), await other.redeem('rbw_x')]).toEqual([undefined, undefined]);
      const redeemed = await Promise.all([one, other, one].map((store) => store.redeem(ticket)));
      expect(redeemed.filter(Boolean)).toEqual(['a secret']);
      const late = await one.issue('another', 1_000);
      now = new Date('2026-11-22T00:00:01.000Z');
      expect(await one.redeem(late)).toBeUndefined();
    });
  });
}

/** People of a provider, on every adapter and by several processes. */
export function oidcContract(harness: StoreHarness): void {
  describe('people of a provider', () => {
    const stores = useTwoConnections(harness);
    const both = async (now?: () => Date) => [
      await createOidcStore(stores.one, now),
      await createOidcStore(stores.other, now),
    ];
    const issuer = 'https://id.example';

    it('are one user each, however often they sign in at once', async () => {
      const subject = uniqueName();
      const signIns = (await both()).flatMap((store) => [store, store, store]);
      const granted = await Promise.all(signIns.map((store) => store.grant(issuer, subject, 'agent')));
      expect(new Set(granted.map(({ userId }) => userId)).size).toBe(1);
      expect(granted[0]).toMatchObject({ userId: expect.stringMatching(/^user_[0-9a-f]{12}$/), role: 'agent' });
    });

    it('are known by issuer and subject together', async () => {
      const [store] = await both();
      const subject = uniqueName();
      const ours = await store!.grant(issuer, subject, 'agent');
      const elsewhere = await store!.grant(`${issuer}/`, subject, 'admin');
      expect(elsewhere.userId).not.toBe(ours.userId);
      expect(await store!.find(issuer, subject)).toEqual(ours);
      expect(await store!.ofUser(elsewhere.userId)).toEqual(elsewhere);
      expect(await store!.find(issuer, uniqueName())).toBeUndefined();
    });

    it('have what the provider gave last', async () => {
      const [one, other] = await both();
      const subject = uniqueName();
      const { _id, userId } = await one!.grant(issuer, subject, 'admin');
      await other!.grant(issuer, subject, null);
      await one!.setSuspended(_id, true);
      expect(await other!.ofUser(userId)).toMatchObject({ role: null, isSuspended: true });
    });

    it('prove something once, whichever process is asked', async () => {
      const [one, other] = await both();
      const proof = uniqueName();
      const uses = await Promise.all([one!, other!, one!, other!].map((store) => store.useOnce(proof, 60_000)));
      expect(uses.filter(Boolean)).toHaveLength(1);
      expect(await other!.useOnce(uniqueName(), 60_000)).toBe(true);
    });

    it('are found by their session at the provider', async () => {
      const [one, other] = await both();
      const sid = uniqueName();
      await one!.noteSession(issuer, sid, { userId: 'user_000000000001', lastsMs: 60_000 });
      await other!.noteSession(issuer, sid, { userId: 'user_000000000002', lastsMs: 60_000 });
      expect(await one!.userOfSession(issuer, sid)).toBe('user_000000000002');
      expect(await one!.userOfSession('https://other.example', sid)).toBeUndefined();
    });
  });
}
