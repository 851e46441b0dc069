import type { Filter } from 'mongodb';
import type { Decision, DecisionQuery } from '../../contracts/governance/decision';
import { AppError } from '../../platform/errors/app-error';
import { compact } from '../../platform/json/compact';
import { isSameJson } from '../../platform/json/same';
import { offsetOfPage, type Page } from '../../platform/lists/page';
import type { Database, Stored } from '../port/collection';
import { findPage } from '../port/find-page';

type Document = Stored & Omit<Decision, 'id'>;

const present = ({ _id, ...fields }: Document): Decision => ({ id: _id, ...fields });

/** Writers of one decision do not stay in each other's way for longer than this. */
const maxTries = 50;
/** How far a chain is followed. */
const longestChain = 50;

const range = (min: number | string | undefined, max: number | string | undefined) =>
  min === undefined && max === undefined
    ? undefined
    : { ...(min === undefined ? {} : { $gte: min }), ...(max === undefined ? {} : { $lte: max }) };

/** What agents have decided. */
export async function createDecisionStore(db: Database) {
  const newest = { createdAt: -1, _id: -1 } as const;
  const decisions = await db.collection<Document>({
    name: 'decisions',
    indexes: [{ keys: { agent: 1, ...newest } }, { keys: { taskId: 1, ...newest } }, { keys: newest }],
  });

  return {
    async add({ id, ...fields }: Decision): Promise<void> {
      await decisions.insert({ _id: id, ...fields });
    },

    async get(id: string): Promise<Decision | undefined> {
      const record = await decisions.get(id);
      return record && present(record);
    },

    /** The newest first. Decisions without a risk have none that is within bounds. */
    async list(query: DecisionQuery): Promise<Page<Decision>> {
      const { agent, taskId, page, limit, cursor } = query;
      const confidence = range(query.minConfidence, query.maxConfidence);
      const riskScore = range(query.minRisk, query.maxRisk);
      const filter: Filter<Document> = {
        ...compact({ agent, taskId }),
        ...(confidence && { confidence }),
        ...(riskScore && { riskScore }),
        createdAt: range(query.startTime ?? '', query.endTime),
      } as Filter<Document>;
      const part = { limit, cursor, offset: offsetOfPage(page, limit) };
      return (await findPage(decisions, { filter, order: { key: 'createdAt', direction: -1 } }, part)).map(present);
    },

    /** What a decision follows from, the first one at the beginning, and the decision itself. */
    async chainOf(decision: Decision): Promise<Decision[]> {
      const chain = [decision];
      for (let id = decision.parentDecisionId; id !== undefined && chain.length < longestChain;) {
        const parent = await decisions.get(id);
        if (!parent) {
          break;
        }
        chain.unshift(present(parent));
        id = parent.parentDecisionId;
      }
      return chain;
    },

    /**
     * Replaces fields by what `change` makes of the newest; it may run more than once and throws to refuse. `undefined` when
     * there is no such decision.
     */
    async change(
      id: string,
      change: (current: Decision) => Partial<Pick<Decision, 'assumptions'>>,
      updatedAt: string,
    ): Promise<Decision | undefined> {
      for (let attempt = 0; attempt < maxTries; attempt += 1) {
        const current = await decisions.get(id);
        if (!current) {
          return undefined;
        }
        const next = { ...present(current), ...change(present(current)) };
        if (isSameJson(next, present(current))) {
          return present(current);
        }
        const changed = await decisions.findOneAndUpdate(
          { _id: id, revision: current.revision },
          { $set: { ...change(present(current)), updatedAt }, $inc: { revision: 1 } },
        );
        if (changed) {
          return present(changed);
        }
      }
      throw new AppError('CONFLICT', {
        status: 409,
        message: 'Too many concurrent changes of this decision. Try again.',
      });
    },
  };
}

export type DecisionStore = Awaited<ReturnType<typeof createDecisionStore>>;
