import { createHash } from 'node:crypto';
import type { Filter } from 'mongodb';
import type { GovernanceTrace, GovernanceTraceQuery, TraceInput } from '../../contracts/governance/trace';
import { compact } from '../../platform/json/compact';
import { createRedactor } from '../../platform/log/redact';
import { redactJson } from '../../platform/log/redact-json';
import { newRecordId } from '../../platform/operations/operation';
import type { Database, Stored } from '../port/collection';
import { DuplicateKeyError } from '../port/errors';
import { findPage } from '../port/find-page';
import { inOrder } from '../port/in-order';
import { createInbox } from './trace-inbox';

export type TraceRecord = Stored & Omit<GovernanceTrace, 'id' | 'matchedRules'> & { raw: Record<string, unknown> };

/** Traces explain decisions of about a quarter; the audit log has what has to be retained for longer. */
const keptSeconds = 90 * 86_400;

const bounds = { bytes: 65_536, depth: 12, items: 256 };

/** The same for the same kind and key, in every process. */
const idOf = ({ kind, dedupeKey }: TraceInput): string =>
  dedupeKey === undefined
    ? newRecordId('trace', 12)
    : `trace_${createHash('sha256').update(`${kind}\n${dedupeKey}`).digest('hex').slice(0, 24)}`;

const listed = ({ _id, raw: _raw, ...trace }: TraceRecord): GovernanceTrace => ({
  id: _id,
  ...trace,
  matchedRules: trace.evaluatedRules.filter(({ status }) => status === 'matched'),
});

/** Why decisions came out as they did. Nothing that looks like a secret is ever stored. */
export async function createTraceStore(db: Database, now: () => Date = () => new Date()) {
  const newest = { createdAt: -1, _id: -1 } as const;
  const filed = await db.collection<TraceRecord>({
    name: 'governance-traces',
    indexes: [
      { keys: { kind: 1, ...newest } },
      { keys: { outcome: 1, ...newest } },
      { keys: { 'subject.agentId': 1, ...newest } },
      { keys: { 'subject.taskId': 1, ...newest } },
      { keys: { 'subject.actionType': 1, ...newest } },
      { keys: newest },
    ],
    expire: { field: 'createdAt', afterSeconds: keptSeconds },
  });
  const traces = await createInbox(db, { name: 'governance-trace-inbox', filed });
  const redact = createRedactor();

  /** A trace with its id, and the promise that it is stored: one with a `dedupeKey` that is stored already changes nothing. */
  function begin(input: TraceInput): { id: string; recorded: Promise<void> } {
    const document = documentOf(input);
    return { id: document._id, recorded: insert(document, input) };
  }

  async function insert(document: TraceRecord, { dedupeKey }: TraceInput): Promise<void> {
    try {
      await traces.add(document);
    } catch (error) {
      if (!(error instanceof DuplicateKeyError) || dedupeKey === undefined) {
        throw error;
      }
    }
  }

  function documentOf(input: TraceInput): TraceRecord {
    const { kind, outcome, raw = {}, ...fields } = input;
    const { title, summary, remediation, subject = {}, evaluatedRules = [], steps = [] } = fields;
    // From the service's own enumerations and clock; everything else may have come from a caller.
    const words = redactJson({ title, summary, ...compact({ remediation }), subject, evaluatedRules, steps }, redact, {
      ...bounds,
      bytes: Infinity,
    });
    const evidence = redactJson(raw, redact, bounds);
    return {
      _id: idOf(input),
      kind,
      outcome,
      ...(words.value as Pick<TraceRecord, 'title' | 'summary' | 'subject' | 'evaluatedRules' | 'steps'>),
      raw: evidence.value,
      redacted: words.changed || evidence.changed,
      createdAt: now().toISOString(),
    };
  }

  return {
    begin,

    /**
     * Writes a decision down and returns the id of its trace. With a `dedupeKey` a repetition, such as the retry of an
     * activity, returns the id of the first and changes nothing.
     */
    async record(input: TraceInput): Promise<string> {
      const { id, recorded } = begin(input);
      await recorded;
      return id;
    },

    /** The newest first, without the decisions' inputs. */
    async list({ kind, outcome, agent, taskId, actionType, startTime, endTime, ...part }: GovernanceTraceQuery) {
      const filter: Filter<TraceRecord> = {
        ...compact({ kind, outcome }),
        ...(agent === undefined ? {} : { 'subject.agentId': agent }),
        ...(taskId === undefined ? {} : { 'subject.taskId': taskId }),
        ...(actionType === undefined ? {} : { 'subject.actionType': actionType }),
        createdAt: { $gte: startTime ?? '', ...(endTime === undefined ? {} : { $lte: endTime }) },
      };
      await traces.fileAll();
      return (await findPage(filed, { filter, order: { key: 'createdAt', direction: -1 } }, part)).map(listed);
    },

    /** Traces that were written before a moment. */
    async *before(moment: string): AsyncGenerator<TraceRecord> {
      await traces.fileAll();
      yield* inOrder(filed, { field: 'createdAt', before: moment });
    },

    /** @returns whether there was one */
    remove: (id: string): Promise<boolean> => traces.remove(id),

    /** With the decision's inputs. */
    async get(id: string): Promise<(GovernanceTrace & { raw: Record<string, unknown> }) | undefined> {
      const record = await traces.get(id);
      return record && { ...listed(record), raw: record.raw };
    },
  };
}

export type TraceStore = Awaited<ReturnType<typeof createTraceStore>>;
