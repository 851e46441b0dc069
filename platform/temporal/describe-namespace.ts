/** The service of a Temporal server that has its namespaces. */
const service = 'temporal.api.workflowservice.v1.WorkflowService';
/** Of the field `namespace`, which is the first of the request, and a string. */
const namespaceTag = 0x0a;

/** The call that describes a namespace, without the types of it and of its response. */
export function describeNamespaceRequest(namespace: string): { path: string; request: Buffer } {
  const name = Buffer.from(namespace);
  const request = Buffer.concat([Buffer.from([namespaceTag, ...varint(name.length)]), name]);
  return { path: `/${service}/DescribeNamespace`, request };
}

/** A number as protobuf writes it: seven bits a byte, the lowest first. */
function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)];
}
