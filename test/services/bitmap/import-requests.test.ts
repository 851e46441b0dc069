import { sendImport } from './protobuf';
import { type ServerUnderTest, serverUnderTest } from './server';

let server: ServerUnderTest;
beforeAll(async () => {
  server = await serverUnderTest();
  await server.call('POST', '/index/i');
  await server.call('POST', '/index/k', '{"options":{"keys":true}}');
  for (const [field, options] of Object.entries({ a: {}, keyed: { keys: true }, v: { type: 'int' } })) {
    for (const index of ['i', 'k']) {
      await server.call('POST', `/index/${index}/field/${field}`, JSON.stringify({ options }));
    }
  }
});
afterAll(() => server.remove());

const send = (field: string, message: string, value: object, index = 'i') =>
  sendImport(server, `/index/${index}/field/${field}/import`, [message, value]);
const refused = (message: string) => [400, { Err: expect.stringContaining(message) }];

describe('an import request', () => {
  it('names rows and columns by ids or by keys, never by both', async () => {
    const rows = { RowIDs: [1, 1, 1], RowKeys: ['x'], ColumnIDs: [1, 2, 3] };
    expect(await send('keyed', 'ImportRequest', rows)).toEqual(refused('not by both'));
    const columns = { RowIDs: [1, 1, 1], ColumnIDs: [1, 2, 3], ColumnKeys: ['x'] };
    expect(await send('a', 'ImportRequest', columns, 'k')).toEqual(refused('not by both'));
    const values = { ColumnIDs: [1, 2, 3], ColumnKeys: ['x'], Values: [1, 2, 3] };
    expect(await send('v', 'ImportValueRequest', values, 'k')).toEqual(refused('not by both'));
    expect(await server.query('k', 'Rows(a) Rows(keyed) Sum(field=v)')).toBe(
      '{"results":[{"rows":[]},{"rows":null,"keys":[]},{"value":0,"count":0}]}',
    );
  });
});
