import { z } from 'zod';
import type { HttpContext } from '../platform/http/context';
import type { StatedRevision } from '../platform/http/limits/precondition';
import type { AuditedAction, RouteContract, RouteHandler } from '../platform/http/routing/route-contract';
import type { Routes } from '../platform/http/routing/routes';
import type { Recorded } from '../stores/port/configured-records';
import { createRecordEditor, type OwnFields, type RecordKind } from './record-editor';
import { withRevision } from './revisions';

/** A kind of record with the routes that read and write it. */
export interface RecordArea<F extends object, View, Id extends string> extends RecordKind<F, View> {
  /** Of the list; that of one record is `<path>/:<id>`. */
  path: string;
  /** The parameter that names one record, and the field of a response that does. */
  id: Id;
  params: z.ZodType<Record<Id, string>>;
  response: z.ZodType<View>;
  /** Of the OpenAPI document; `type` when absent. */
  tag?: string;
  permissions: { read: string; write: string };
}

/** The contract of each verb. */
interface Verb {
  operationId: string;
  summary: string;
}

/** The audit entry of a write; the record is its resource. */
interface Audited<B, View> {
  action: string;
  details?: (body: B, answer: View) => Record<string, unknown>;
}

interface Write<B extends z.ZodType, View> extends Verb {
  body: B;
  audit?: Audited<z.output<B>, View>;
  /** Refusals besides those of validation and permission; 409 when absent. */
  errors?: number[];
  /** Configures what hosts execute: outside of `local` for administrators of the installation. */
  onHosts?: true;
}

/** What a caller sends with a change that states the revision in its body. */
type Patch = z.ZodType<{ expectedRevision?: number | undefined }>;
type Answer<R extends z.ZodType> = Awaited<ReturnType<RouteHandler<z.ZodType, z.ZodType, z.ZodType, R>>>;

/**
 * The verbs of records with a revision. Each adds one route, in the order in which they are called; a write compares the
 * revision that `If-Match`, `X-Resource-Revision` or the body states, and returns the new one in its headers.
 */
export function recordRoutes<F extends object, Id extends string, View extends Record<Id, string>>(
  routes: Routes,
  area: RecordArea<F, View, Id>,
) {
  const { path, params, response, records, present, type, tag = type, permissions } = area;
  const editor = createRecordEditor(area);
  const onePath = `${path}/:${area.id}`;
  const read = { method: 'get', tag, permission: permissions.read } as const;
  const write = { tag, permission: permissions.write, response, errors: [409] };

  const respond = (ctx: HttpContext, record: F & Recorded): View => present(withRevision(ctx, type, record));
  const idOf = (input: { params: Record<Id, string> }): string => input.params[area.id];
  const audited = <B>(audit: Audited<B, View> | undefined, body: B, answer: View): AuditedAction | undefined =>
    audit && { action: audit.action, resource: answer[area.id], details: audit.details?.(body, answer) };

  return {
    find: editor.find,

    /** Changes a record at the stated revision, and returns it. */
    async change(
      ctx: HttpContext,
      { id, ...stated }: StatedRevision & { id: string },
      change: (current: OwnFields<F>) => F,
    ): Promise<View> {
      return respond(ctx, await editor.change(id, stated, change));
    },

    /** @param answer makes the response from all records */
    list<R extends z.ZodType, Q extends z.ZodType = z.ZodUndefined>(
      contract: Verb & Pick<RouteContract<z.ZodType, Q, z.ZodType, R>, 'query' | 'response'>,
      answer: (all: (F & Recorded)[], query: z.output<Q>) => Answer<R> | Promise<Answer<R>>,
    ): void {
      routes.add({ ...read, ...contract, path }, async ({ query }) => answer(await records.list(), query));
    },

    get(contract: Verb): void {
      routes.add({ ...read, ...contract, path: onePath, params, response }, async (input, ctx) =>
        respond(ctx, await editor.find(idOf(input))),
      );
    },

    /** @param make the id and the fields for a body; throws to refuse */
    create<B extends z.ZodType>(
      { audit, ...contract }: Write<B, View>,
      make: (body: z.output<B>) => { id: string; fields: F } | Promise<{ id: string; fields: F }>,
    ): void {
      routes.add(
        {
          ...write,
          ...contract,
          method: 'post',
          path,
          status: 201,
          audit: ({ body }, answer) => audited(audit, body, answer),
        },
        async ({ body }, ctx) => {
          const { id, fields } = await make(body);
          return respond(ctx, await editor.create(id, fields));
        },
      );
    },

    /**
     * @param fieldsOf the fields that replace all; throws to refuse
     * @param options `upsert`: creates a record that is not there
     */
    replace<B extends z.ZodType>(
      { audit, ...contract }: Write<B, View> & { upsert?: boolean },
      fieldsOf: (body: z.output<B>, id: string) => F,
    ): void {
      const { upsert = false, ...verb } = contract;
      routes.add(
        {
          ...write,
          ...verb,
          method: 'put',
          path: onePath,
          params,
          audit: ({ body }, answer) => audited(audit, body, answer),
        },
        async (input, ctx) => {
          const id = idOf(input);
          const fields = fieldsOf(input.body, id);
          return respond(ctx, await (upsert ? editor.put(id, input, fields) : editor.change(id, input, () => fields)));
        },
      );
    },

    /** @param changeOf what a patch makes of the current fields; throws to refuse, before anything is read */
    patch<B extends Patch>(
      { audit, ...contract }: Write<B, View>,
      changeOf: (
        patch: Omit<z.output<B>, 'expectedRevision'>,
        id: string,
      ) => ((current: OwnFields<F>) => F) | Promise<(current: OwnFields<F>) => F>,
    ): void {
      routes.add(
        {
          ...write,
          ...contract,
          method: 'patch',
          path: onePath,
          params,
          audit: ({ body }, answer) => audited(audit, body, answer),
        },
        async (input, ctx) => {
          const { expectedRevision: bodyRevision, ...patch } = input.body;
          const change = await changeOf(patch, idOf(input));
          return respond(ctx, await editor.change(idOf(input), { header: input.header, bodyRevision }, change));
        },
      );
    },

    remove({ audit, ...contract }: Verb & { audit?: { action: string } }): void {
      routes.add(
        {
          ...write,
          ...contract,
          method: 'delete',
          path: onePath,
          params,
          response: z.undefined(),
          status: 204,
          audit: (input) => audit && { ...audit, resource: idOf(input) },
        },
        async (input) => {
          await editor.remove(idOf(input), input);
          return undefined;
        },
      );
    },
  };
}
