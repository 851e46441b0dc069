import { exactJson } from '../../../platform/json/exact';
import { readImportRequest, readImportValueRequest } from '../answers/messages';
import type { Catalog, Index } from '../engine/catalog';
import { frameField, frameIntField } from '../engine/frames';
import { standardView } from '../engine/time-quantum';
import { importBits, importValues } from '../imports/import';
import type { Steps } from '../steps';
import { readBody, readDescription } from './body';
import { catalogOf, findField, findIndex, param, type Routes } from './context';
import { frameFieldObject, frameFieldsOf } from './describe';
import { importing, mustBeProtobuf } from './import-routes';
import { checkName, frameFieldName, readFrameFieldOptions, readFrameOptions } from './options';
import { checkArguments, flag, json, Refusal } from './reply';

/** What only the earlier revision has: frames with their integer fields, and its imports (specification 3, B, rule 4). */
export const earlierRoutes: Routes = (router, context) => {
  const { store, bodyLimit } = context;
  const catalog = catalogOf(context);
  const frameOf = (index: Index, name: string) =>
    findField(index, frameField(name), { form: 'text', message: 'frame not found' });

  router.post('/index/:index/frame/:frame', async (ctx) => {
    checkArguments(ctx);
    const body = await readDescription(ctx, bodyLimit);
    const index = findIndex(catalog, param(ctx, 'index'), { form: 'text' });
    const name = plainName(param(ctx, 'frame'));
    const { bits, fields } = readFrameOptions(body);
    if (index.fields.has(frameField(name))) {
      throw new Refusal(409, 'creating frame: frame already exists');
    }
    catalog.createField(index, frameField(name), bits);
    for (const field of fields) {
      catalog.createField(index, frameIntField(name, field.name), field.options);
    }
    await store.commit();
    json(ctx, '{}');
  });

  router.delete('/index/:index/frame/:frame', async (ctx) => {
    checkArguments(ctx);
    const index = catalog.indexes.get(param(ctx, 'index'));
    const name = param(ctx, 'frame');
    if (index) {
      for (const field of frameFieldsOf(index, name)) {
        catalog.remove(field);
      }
      const bits = index.fields.get(frameField(name));
      if (bits) {
        catalog.remove(bits);
      }
    }
    await store.commit();
    json(ctx, '{}');
  });

  router.post('/index/:index/frame/:frame/field/:field', async (ctx) => {
    checkArguments(ctx);
    const body = await readDescription(ctx, bodyLimit);
    const index = findIndex(catalog, param(ctx, 'index'), { form: 'text' });
    frameOf(index, param(ctx, 'frame'));
    const name = frameIntField(param(ctx, 'frame'), frameFieldName(param(ctx, 'field')));
    const options = readFrameFieldOptions(body);
    if (index.fields.has(name)) {
      throw new Refusal(409, 'creating field: field already exists');
    }
    catalog.createField(index, name, options);
    await store.commit();
    json(ctx, '{}');
  });

  router.delete('/index/:index/frame/:frame/field/:field', async (ctx) => {
    checkArguments(ctx);
    const index = findIndex(catalog, param(ctx, 'index'), { form: 'text' });
    frameOf(index, param(ctx, 'frame'));
    const field = index.fields.get(frameIntField(param(ctx, 'frame'), param(ctx, 'field')));
    if (!field) {
      throw new Refusal(404, 'field not found');
    }
    catalog.remove(field);
    await store.commit();
    json(ctx, '{}');
  });

  router.get('/index/:index/frame/:frame/fields', (ctx) => {
    checkArguments(ctx);
    const index = findIndex(catalog, param(ctx, 'index'), { form: 'text' });
    const name = param(ctx, 'frame');
    frameOf(index, name);
    json(ctx, exactJson({ fields: frameFieldsOf(index, name).map(frameFieldObject) }));
  });

  router.get('/index/:index/frame/:frame/views', (ctx) => {
    checkArguments(ctx);
    const index = findIndex(catalog, param(ctx, 'index'), { form: 'text' });
    const { views } = frameOf(index, param(ctx, 'frame'));
    const names = [...views.keys()].map((view) => (view === standardView ? 'standard' : `standard_${view}`)).sort();
    json(ctx, names.length === 0 ? '{}' : exactJson({ views: names }));
  });

  router.post('/import', async (ctx) => {
    checkArguments(ctx, 'clear');
    mustBeProtobuf(ctx);
    const body = await readBody(ctx, bodyLimit);
    await importing(ctx, store, () => {
      const { index: name, field: frame, ...bits } = readImportRequest(body);
      const index = findIndex(catalog, name, { form: 'text' });
      importBits(catalog.write, { index, field: frameOf(index, frame) }, { ...bits, clear: flag(ctx, 'clear') });
    });
  });

  router.post('/import-value', async (ctx) => {
    checkArguments(ctx);
    mustBeProtobuf(ctx);
    const body = await readBody(ctx, bodyLimit);
    await importing(ctx, store, () => {
      const { index: name, field: frame, frameField: field, ...values } = readImportValueRequest(body);
      const index = findIndex(catalog, name, { form: 'text' });
      frameOf(index, frame);
      const target = findField(index, frameIntField(frame, field), { form: 'text' });
      importValues(catalog.write, { index, field: target }, { ...values, clear: false });
    });
  });
};

/** Names of frames are checked like all others, and refused in plain text. */
function plainName(value: string): string {
  try {
    return checkName('frame', value);
  } catch (error) {
    throw error instanceof Refusal ? new Refusal(400, error.message) : error;
  }
}

/** The highest shard of each index; the frames of an index count their data in the same shards as its fields do. */
export function* highestShards(catalog: Catalog): Steps<Record<string, number>> {
  const highest: [string, number][] = [];
  for (const index of [...catalog.indexes.values()]) {
    let shard = index.existing.highestShard() ?? 0;
    for (const field of [...index.fields.values()]) {
      shard = Math.max(shard, (yield* field.highestShard()) ?? 0);
    }
    highest.push([index.name, shard]);
  }
  return Object.fromEntries(highest);
}
