import type { ApiToken } from '../../contracts/identity/token';
import { refusal, RefusedError } from '../../domain/refusal';
import {
  isSecretOf,
  newSecretToken,
  parseSecretToken,
  secretHash,
  type SecretToken,
  secretTokenText,
} from '../../platform/crypto/secret-token';
import type { Page, PageRequest } from '../../platform/lists/page';
import { operationTime } from '../../platform/operations/operation';
import type { Database, Stored } from '../port/collection';
import { DuplicateKeyError, StaleRevisionError } from '../port/errors';
import { findPage } from '../port/find-page';
import { insertBounded } from './insert-bounded';
import { recordUse } from './last-use';

/** What is stored of a token. */
export interface TokenRecord extends Stored, Omit<ApiToken, 'id' | 'state' | 'formerSecretUntil'> {
  hash: string;
  /** The secret before the last rotation. */
  former?: { hash: string; until: string };
  /** The name in lower case while the token is not revoked, and its id afterwards: names are unique among the others. */
  nameKey: string;
  isRevoked: boolean;
  /** When it is accepted no more; it is listed for a while then. */
  endsAt?: string;
}

export type NewToken = Pick<
  ApiToken,
  | 'workspaceId'
  | 'name'
  | 'subject'
  | 'userId'
  | 'membershipId'
  | 'role'
  | 'scopes'
  | 'capabilities'
  | 'createdBy'
  | 'expiresAt'
>;

export const maxTokens = 200;
/** How long tokens are listed that have expired or were revoked, in days. */
const listedDays = 90;

const recordId = (id: string): string => `token_${id}`;

const nameTaken = (name: string): RefusedError =>
  new RefusedError(
    refusal('NAME_TAKEN', `An API token of the workspace has the name ${name}; revoke it first.`, { name }),
  );

/** API tokens of workspaces, with the hashes of their secrets. */
export async function createTokenStore(db: Database, now: () => Date = operationTime) {
  const newest = { createdAt: -1, _id: -1 } as const;
  const tokens = await db.collection<TokenRecord>({
    name: 'api-tokens',
    indexes: [
      { keys: { workspaceId: 1, nameKey: 1 }, unique: true },
      { keys: { workspaceId: 1, isRevoked: 1, subject: 1 } },
      { keys: { workspaceId: 1, ...newest } },
    ],
    expire: { field: 'endsAt', afterSeconds: listedDays * 86_400 },
  });

  async function insert(fields: NewToken, { id, secret }: SecretToken): Promise<TokenRecord> {
    const record: TokenRecord = {
      _id: recordId(id),
      ...fields,
      hash: secretHash(secret),
      nameKey: fields.name.toLowerCase(),
      isRevoked: false,
      revision: 1,
      createdAt: now().toISOString(),
      ...(fields.expiresAt !== undefined && { endsAt: fields.expiresAt }),
    };
    if (fields.subject === 'user') {
      // One for each member, of whom there is a limit.
      await tokens.insert(record);
      return record;
    }
    const subject = { $in: ['agent' as const, 'service' as const] };
    const among = { workspaceId: fields.workspaceId, isRevoked: false, subject };
    await insertBounded(tokens, record, { among, max: maxTokens, of: 'API tokens of agents and services' });
    return record;
  }

  return {
    /**
     * Stores a new token; its text is returned here only.
     *
     * @throws RefusedError `NAME_TAKEN`, `IDENTITY_LIMIT_REACHED`
     */
    async create(fields: NewToken): Promise<{ record: TokenRecord; token: string }> {
      const token = newSecretToken();
      try {
        return { record: await insert(fields, token), token: secretTokenText('rbk', token) };
      } catch (error) {
        throw error instanceof DuplicateKeyError ? nameTaken(fields.name) : error;
      }
    },

    /**
     * Stores the token that a secret was exchanged for, unless an earlier try of the exchange did.
     *
     * @throws RefusedError `NAME_TAKEN`, `IDENTITY_LIMIT_REACHED`
     */
    async createExchanged(fields: NewToken, token: SecretToken): Promise<{ record: TokenRecord; token: string }> {
      const text = secretTokenText('rbk', token);
      const before = await tokens.get(recordId(token.id));
      if (before) {
        return { record: before, token: text };
      }
      try {
        return { record: await insert(fields, token), token: text };
      } catch (error) {
        const stored = error instanceof DuplicateKeyError ? await tokens.get(recordId(token.id)) : undefined;
        if (stored) {
          return { record: stored, token: text };
        }
        throw error instanceof DuplicateKeyError ? nameTaken(fields.name) : error;
      }
    },

    /** A token of a workspace. */
    async get(workspaceId: string, id: string): Promise<TokenRecord | undefined> {
      const record = await tokens.get(id);
      return record?.workspaceId === workspaceId ? record : undefined;
    },

    /** The newest first. */
    list: (workspaceId: string, part: PageRequest): Promise<Page<TokenRecord>> =>
      findPage(tokens, { filter: { workspaceId }, order: { key: 'createdAt', direction: -1 } }, part),

    /** The token that a credential is, unless it was revoked or has expired; a secret before a rotation until it ends. */
    async presented(text: string): Promise<{ record: TokenRecord; isFormer: boolean } | undefined> {
      const token = parseSecretToken('rbk', text);
      const record = token && (await tokens.get(recordId(token.id)));
      const at = now();
      if (!record || record.isRevoked || isPast(record.expiresAt, at)) {
        return undefined;
      }
      const { former } = record;
      const isCurrent = isSecretOf(record.hash, token.secret);
      const isFormer = former !== undefined && !isPast(former.until, at) && isSecretOf(former.hash, token.secret);
      return isCurrent || isFormer ? { record, isFormer } : undefined;
    },

    noteUse: (record: TokenRecord) => recordUse(tokens, record, now()),

    /**
     * Issues another secret; the one before is accepted until the grace period ends, any other one no more.
     *
     * @throws StaleRevisionError when it was changed at the same moment
     */
    async rotate(
      record: TokenRecord,
      { graceMs, expiresAt }: { graceMs: number; expiresAt?: string },
    ): Promise<{ record: TokenRecord; token: string }> {
      const { _id, revision, hash } = record;
      const token = newSecretToken(_id.slice(recordId('').length));
      const at = now();
      const former = { hash, until: new Date(at.getTime() + graceMs).toISOString() };
      const rotated = await tokens.findOneAndUpdate(
        { _id, revision, isRevoked: false },
        {
          $set: {
            hash: secretHash(token.secret),
            former,
            rotatedAt: at.toISOString(),
            revision: revision + 1,
            ...(expiresAt !== undefined && { expiresAt, endsAt: expiresAt }),
          },
        },
      );
      if (!rotated) {
        const current = { revision: (await tokens.get(_id))?.revision ?? 0, shown: null };
        throw new StaleRevisionError('api-tokens', _id, { expectedRevision: revision, current });
      }
      return { record: rotated, token: secretTokenText('rbk', token) };
    },

    /** The revoked token; it stays as it was when it was revoked before. */
    async revoke({ _id }: TokenRecord, revokedBy: string): Promise<TokenRecord | undefined> {
      const at = now().toISOString();
      const revoked = await tokens.findOneAndUpdate(
        { _id, isRevoked: false },
        { $set: { isRevoked: true, nameKey: _id, revokedAt: at, revokedBy, endsAt: at }, $inc: { revision: 1 } },
      );
      return revoked ?? tokens.get(_id);
    },
  };
}

/** Whether a time has come. */
const isPast = (time: string | undefined, at: Date): boolean => time !== undefined && Date.parse(time) <= at.getTime();
