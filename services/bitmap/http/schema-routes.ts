import { exactJson } from '../../../platform/json/exact';
import type { FieldOptions, IndexOptions } from '../engine/options';
import { readDescription } from './body';
import { catalogOf, findField, findIndex, param, type Routes } from './context';
import { indexObject, schemaObject } from './describe';
import { checkName, readFieldOptions, readIndexOptions, readSchema } from './options';
import { checkArguments, json, mustAcceptJson, Refusal, succeeded } from './reply';

/** Indexes and fields of the current revision: create, remove, list (specification 3, B, endpoints). */
export const schemaRoutes: Routes = (router, context) => {
  const { store, bodyLimit } = context;
  const catalog = catalogOf(context);

  router.get(['/index', '/schema'], (ctx) => {
    checkArguments(ctx);
    mustAcceptJson(ctx);
    json(ctx, exactJson(schemaObject(catalog)));
  });

  router.post('/schema', async (ctx) => {
    checkArguments(ctx);
    const { indexes } = readSchema(await readDescription(ctx, bodyLimit));
    // Nothing is created unless all can be.
    for (const given of indexes) {
      const index = catalog.indexes.get(given.name);
      mustMatch(index, given, `index ${given.name}`);
      for (const field of given.fields) {
        mustMatch(index?.fields.get(field.name), field, `field ${field.name} of the index ${given.name}`);
      }
    }
    for (const { name, options, fields } of indexes) {
      const index = catalog.indexes.get(name) ?? catalog.createIndex(name, options);
      for (const field of fields) {
        if (!index.fields.has(field.name)) {
          catalog.createField(index, field.name, field.options);
        }
      }
    }
    await store.commit();
    ctx.status = 204;
  });

  router.get('/index/:index', (ctx) => {
    checkArguments(ctx);
    mustAcceptJson(ctx);
    const name = param(ctx, 'index');
    const index = catalog.indexes.get(name);
    if (!index) {
      throw new Refusal(404, `Index ${name} Not Found`);
    }
    json(ctx, exactJson(indexObject(index)));
  });

  router.post('/index/:index', async (ctx) => {
    checkArguments(ctx);
    mustAcceptJson(ctx);
    const options = readIndexOptions(await readDescription(ctx, bodyLimit));
    const name = checkName('index', param(ctx, 'index'));
    if (catalog.indexes.has(name)) {
      throw new Refusal(409, 'creating index: index already exists', { form: 'envelope' });
    }
    catalog.createIndex(name, options);
    await store.commit();
    succeeded(ctx);
  });

  router.delete('/index/:index', async (ctx) => {
    checkArguments(ctx);
    mustAcceptJson(ctx);
    const index = catalog.indexes.get(param(ctx, 'index'));
    if (!index) {
      throw new Refusal(404, 'deleting index: index not found', { form: 'envelope' });
    }
    catalog.remove(index);
    await store.commit();
    succeeded(ctx);
  });

  router.post('/index/:index/field/:field', async (ctx) => {
    checkArguments(ctx);
    mustAcceptJson(ctx);
    const body = await readDescription(ctx, bodyLimit);
    const index = findIndex(catalog, param(ctx, 'index'), { form: 'envelope' });
    const name = checkName('field', param(ctx, 'field'));
    const options = readFieldOptions(body);
    if (index.fields.has(name)) {
      throw new Refusal(409, 'creating field: field already exists', { form: 'envelope' });
    }
    catalog.createField(index, name, options);
    await store.commit();
    succeeded(ctx);
  });

  router.delete('/index/:index/field/:field', async (ctx) => {
    checkArguments(ctx);
    mustAcceptJson(ctx);
    const index = findIndex(catalog, param(ctx, 'index'), {
      form: 'envelope',
      status: 404,
      message: 'deleting field: index not found',
    });
    const field = index.fields.get(checkFieldName(param(ctx, 'field')));
    // Also a damaged one: that is how it is given up.
    catalog.remove(field ?? findField(index, '', { form: 'envelope', message: 'deleting field: field not found' }));
    await store.commit();
    succeeded(ctx);
  });
};

/** A name that no field of the current revision has is not looked for: frames are stored under such names. */
const checkFieldName = (name: string): string => (name.includes('/') ? '' : name);

/** @throws Refusal 409 for what is there with other options; how many rows a cache holds may differ */
function mustMatch<Options extends IndexOptions | FieldOptions>(
  existing: { options: Options } | undefined,
  given: { options: Options },
  what: string,
): void {
  if (!existing) {
    return;
  }
  const names = Object.keys({ ...existing.options, ...given.options }) as (keyof Options)[];
  if (names.some((name) => name !== 'cacheSize' && existing.options[name] !== given.options[name])) {
    throw new Refusal(409, `the ${what} exists with other options`, { form: 'envelope' });
  }
}
