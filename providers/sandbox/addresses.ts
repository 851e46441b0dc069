import { BlockList, isIPv4, isIPv6 } from 'node:net';
import type { SandboxPreset } from '../../contracts/settings/sandbox';
import type { EgressRule } from '../../domain/sandbox/network';

const listOf = (subnets: readonly (readonly [string, number])[]): BlockList => {
  const list = new BlockList();
  for (const [address, prefix] of subnets) {
    list.addSubnet(address, prefix, isIPv4(address) ? 'ipv4' : 'ipv6');
  }
  return list;
};

const loopback = listOf([
  ['0.0.0.0', 8],
  ['127.0.0.0', 8],
  ['::', 128],
  ['::1', 128],
]);

/** Where clouds serve the credentials of a machine. */
const metadata = listOf([
  ['169.254.169.254', 32],
  ['169.254.170.2', 32],
  ['169.254.170.23', 32],
  ['100.100.100.200', 32],
  ['168.63.129.16', 32],
  ['192.0.0.192', 32],
  ['fd00:ec2::254', 128],
  ['fd00:ec2::23', 128],
  ['fd20:ce::254', 128],
]);

/** Everything that is not routed in the internet, and is not loopback. */
const privateNetworks = listOf([
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
]);

/** The rule of a preset that forbids an address, whatever name led to it; `undefined` when none does. */
export function blockedAddress(network: SandboxPreset['network'], address: string): EgressRule | undefined {
  const is = (list: BlockList): boolean => formsOf(address).some(([form, family]) => list.check(form, family));
  if (network.blockLoopback && is(loopback)) {
    return 'blockLoopback';
  }
  if (network.blockMetadataEndpoints && is(metadata)) {
    return 'blockMetadataEndpoints';
  }
  return network.blockPrivateNetwork && (is(privateNetworks) || is(metadata)) ? 'blockPrivateNetwork' : undefined;
}

/** An address and those that it stands for: an IPv4 address may be written inside an IPv6 one. */
function formsOf(address: string): [string, 'ipv4' | 'ipv6'][] {
  const [plain = ''] = address.split('%');
  if (!isIPv6(plain)) {
    return [[plain, 'ipv4']];
  }
  const inner = innerIPv4(plain);
  return inner === undefined
    ? [[plain, 'ipv6']]
    : [
        [plain, 'ipv6'],
        [inner, 'ipv4'],
      ];
}

/** Mapped (::ffff:a.b.c.d), compatible (::a.b.c.d), translated (64:ff9b::a.b.c.d) and 6to4 (2002:aabb:ccdd::) addresses. */
function innerIPv4(address: string): string | undefined {
  const words = wordsOf(address);
  const dotted = (high: number, low: number) => [high >> 8, high & 255, low >> 8, low & 255].join('.');
  if (words[0] === 0x2002) {
    return dotted(words[1] ?? 0, words[2] ?? 0);
  }
  const head = words.slice(0, 6).map(String).join(',');
  const isInner = ['0,0,0,0,0,65535', '0,0,0,0,0,0', '100,65435,0,0,0,0'].includes(head);
  return isInner ? dotted(words[6] ?? 0, words[7] ?? 0) : undefined;
}

function wordsOf(address: string): number[] {
  const plain = address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_all, ...parts: string[]) => {
    const [a = 0, b = 0, c = 0, d = 0] = parts.slice(0, 4).map(Number);
    return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  });
  const [left = '', right] = plain.split('::');
  const parse = (part: string | undefined) => (part ? part.split(':').map((word) => Number.parseInt(word, 16)) : []);
  const [head, tail] = [parse(left), parse(right)];
  return right === undefined
    ? head
    : [...head, ...Array.from({ length: 8 - head.length - tail.length }, () => 0), ...tail];
}
