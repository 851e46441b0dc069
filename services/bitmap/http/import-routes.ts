import type { Context } from 'koa';
import {
  importResponse,
  readImportRequest,
  readImportRoaringRequest,
  readImportValueRequest,
  readTranslateKeysRequest,
  translateKeysResponse,
} from '../answers/messages';
import { ProtobufError } from '../answers/wire';
import { BitmapFormatError } from '../bitmaps/portable';
import type { Catalog, Index } from '../engine/catalog';
import type { Field } from '../engine/field';
import { isTimeView, standardView } from '../engine/time-quantum';
import { ImportBudget } from '../imports/budget';
import { importBits, importPositions, importValues, translate } from '../imports/import';
import { ImportError } from '../imports/import-error';
import { maxShards, readPositions } from '../imports/positions';
import type { Store } from '../storage/store';
import { readBody } from './body';
import { catalogOf, findField, findIndex, param, type Routes } from './context';
import { checkArguments, flag, protobuf, Refusal, sendsProtobuf, shardNumber } from './reply';

/** Imports are protobuf in both directions. */
export function mustBeProtobuf(ctx: Context): void {
  if (!sendsProtobuf(ctx)) {
    throw new Refusal(415, 'Unsupported media type');
  }
  if (ctx.accepts('application/x-protobuf', 'application/protobuf') === false) {
    throw new Refusal(406, 'Not acceptable');
  }
}

/** Runs an import; what is wrong with the request is a 400, or 413, with the error in the import's own response. */
export async function importing(ctx: Context, store: Store, run: () => void): Promise<void> {
  try {
    run();
  } catch (error) {
    const isExpected =
      error instanceof ImportError || error instanceof ProtobufError || error instanceof BitmapFormatError;
    if (!isExpected) {
      throw error;
    }
    const status = error instanceof ImportError ? error.status : 400;
    throw new Refusal(status, error.message, { form: 'protobuf' });
  } finally {
    await store.commit();
  }
  protobuf(ctx, importResponse());
}

/** Imports what a body holds: bits, or values where the field is one of integers. */
function importInto(
  catalog: Catalog,
  { index, field, ...options }: { index: Index; field: Field; clear: boolean; ignoreKeyCheck: boolean },
  body: Buffer,
): void {
  if (field.values) {
    const { columns, columnKeys, values } = readImportValueRequest(body);
    importValues(catalog.write, { index, field }, { columns, columnKeys, values, ...options });
  } else {
    const { rows, rowKeys, columns, columnKeys, timestamps } = readImportRequest(body);
    importBits(catalog.write, { index, field }, { rows, rowKeys, columns, columnKeys, timestamps, ...options });
  }
}

/** The columns of each row, by view, that an import of one shard names. */
function readViews(field: Field, shard: number, views: readonly { name: string; data: Uint8Array }[]) {
  const { type, timeQuantum = '', noStandardView = false } = field.options;
  if (type !== 'set' && type !== 'time') {
    throw new ImportError(`roaring imports are for set and time fields, not ${type}`);
  }
  if (shard >= maxShards) {
    throw new ImportError(`roaring imports are for shards below ${maxShards}`);
  }
  const budget = new ImportBudget();
  return views.map(({ name, data }) => {
    // In any other view no query would find them.
    const isKnown = name === standardView ? !noStandardView : isTimeView(name, timeQuantum);
    if (!isKnown) {
      throw new ImportError(`${JSON.stringify(name)} is not a view of the field`);
    }
    return [name, readPositions(data, { shard, budget })] as const;
  });
}

/** Imports, and the translation of keys, as the client libraries send them. */
export const importRoutes: Routes = (router, context) => {
  const { store, bodyLimit } = context;
  const catalog = catalogOf(context);

  const target = (ctx: Context): { index: Index; field: Field } => {
    const index = findIndex(catalog, param(ctx, 'index'), { form: 'text' });
    return { index, field: findField(index, param(ctx, 'field'), { form: 'text' }) };
  };

  router.post('/index/:index/field/:field/import', async (ctx) => {
    checkArguments(ctx, 'clear', 'ignoreKeyCheck');
    mustBeProtobuf(ctx);
    const body = await readBody(ctx, bodyLimit);
    const { index, field } = target(ctx);
    const options = { clear: flag(ctx, 'clear'), ignoreKeyCheck: flag(ctx, 'ignoreKeyCheck') };
    await importing(ctx, store, () => importInto(catalog, { index, field, ...options }, body));
  });

  router.post('/index/:index/field/:field/import-roaring/:shard', async (ctx) => {
    checkArguments(ctx, 'remote', 'clear');
    mustBeProtobuf(ctx);
    const shard = shardNumber(param(ctx, 'shard'));
    const body = await readBody(ctx, bodyLimit);
    const { index, field } = target(ctx);
    await importing(ctx, store, () => {
      const request = readImportRoaringRequest(body);
      // Client libraries send it in the query string, in the body, or in both.
      const clear = request.clear || flag(ctx, 'clear');
      importPositions(catalog.write, { index, field, clear }, readViews(field, shard, request.views));
    });
  });

  router.post('/internal/translate/keys', async (ctx) => {
    checkArguments(ctx);
    mustBeProtobuf(ctx);
    const body = await readBody(ctx, bodyLimit);
    let ids: ReturnType<typeof translate> = [];
    await importing(ctx, store, () => {
      const request = readTranslateKeysRequest(body);
      const index = findIndex(catalog, request.index, { form: 'protobuf' });
      const owner = request.field === '' ? index : findField(index, request.field, { form: 'protobuf' });
      if (!owner.options.keys) {
        throw new ImportError(`${owner.name} has no keys`);
      }
      ids = translate(catalog.write, owner, request.keys);
    });
    protobuf(ctx, translateKeysResponse(ids));
  });
};
