import { parse, type Root } from 'protobufjs';
import type { ServerUnderTest } from './server';

/** The messages as a client has them: written down apart from the server, and read by the library's own reader. */
const messages = `
syntax = "proto3";
message QueryRequest { string Query=1; repeated uint64 Shards=2; bool ColumnAttrs=3; bool Remote=5; bool ExcludeRowAttrs=6; bool ExcludeColumns=7; }
message QueryResponse { string Err=1; repeated QueryResult Results=2; repeated ColumnAttrSet ColumnAttrSets=3; }
message QueryResult { Row Row=1; uint64 N=2; repeated Pair Pairs=3; bool Changed=4; ValCount ValCount=5; uint32 Type=6;
  repeated uint64 RowIDs=7; repeated GroupCount GroupCounts=8; RowIdentifiers RowIdentifiers=9; }
message Row { repeated uint64 Columns=1; repeated Attr Attrs=2; repeated string Keys=3; }
message RowIdentifiers { repeated uint64 Rows=1; repeated string Keys=2; }
message Pair { uint64 ID=1; uint64 Count=2; string Key=3; }
message FieldRow { string Field=1; uint64 RowID=2; string RowKey=3; }
message GroupCount { repeated FieldRow Group=1; uint64 Count=2; }
message ValCount { int64 Val=1; int64 Count=2; }
message ColumnAttrSet { uint64 ID=1; repeated Attr Attrs=2; string Key=3; }
message Attr { string Key=1; uint64 Type=2; string StringValue=3; int64 IntValue=4; bool BoolValue=5; double FloatValue=6; }
message ImportRequest { string Index=1; string Field=2; uint64 Shard=3; repeated uint64 RowIDs=4; repeated uint64 ColumnIDs=5; repeated int64 Timestamps=6;
  repeated string RowKeys=7; repeated string ColumnKeys=8; }
message UnpackedImport { string Index=1; string Field=2; repeated uint64 RowIDs=4 [packed=false]; repeated uint64 ColumnIDs=5 [packed=false]; }
message ImportValueRequest { string Index=1; string Field=2; uint64 Shard=3; string FrameField=4; repeated uint64 ColumnIDs=5; repeated int64 Values=6; repeated string ColumnKeys=7; }
message ImportResponse { string Err=1; }
message TranslateKeysRequest { string Index=1; string Field=2; repeated string Keys=3; }
message TranslateKeysResponse { repeated uint64 IDs=3; }
message ImportRoaringRequest { bool Clear=1; repeated View views=2; }
message View { string Name=1; bytes Data=2; }
`;

const root: Root = parse(messages, { keepCase: true }).root;

export const encode = (name: string, value: object): Uint8Array => {
  const type = root.lookupType(name);
  return type.encode(type.fromObject(value)).finish();
};

/** Integers as texts, so that none loses a digit. */
export const decode = (name: string, bytes: Uint8Array): Record<string, unknown> => {
  const type = root.lookupType(name);
  return type.toObject(type.decode(bytes), { longs: String });
};

export const protobufHeaders = { 'Content-Type': 'application/x-protobuf', Accept: 'application/x-protobuf' };

/** Sends an import; its status, and its response or the text of a refusal. */
export async function sendImport(
  server: ServerUnderTest,
  path: string,
  [message, value]: [message: string, value: object],
): Promise<[status: number, response: unknown]> {
  const { status, bytes, type } = await server.call('POST', path, encode(message, value), protobufHeaders);
  const isProtobuf = type === 'application/protobuf';
  return [status, isProtobuf ? decode('ImportResponse', bytes) : bytes.toString().trim()];
}
