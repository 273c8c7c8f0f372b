#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <stdio.h>
#include <string.h>
static void hex(const char* n, const unsigned char* p, int l) {
  printf("%s ", n);
  for (int i = 0; i < l; i++) printf("%02x", p[i]);
  puts("");
}
int main(void) {
  unsigned char buf[4096], out[8192], md[64];
  unsigned l;
  for (int i = 0; i < 4096; i++) buf[i] = i * 31 + 7;
  const char* ds[] = {"md5",    "sha1",      "sha224",   "sha256",     "sha384",
                      "sha512", "sha3-256",  "sha3-512", "blake2b512", "blake2s256",
                      "sm3",    "ripemd160", "shake256"};
  for (unsigned i = 0; i < sizeof ds / sizeof *ds; i++) {
    const EVP_MD* m = EVP_get_digestbyname(ds[i]);
    if (!m) {
      printf("no %s\n", ds[i]);
      continue;
    }
    for (int n = 0; n < 4096; n += 677) {
      if (!EVP_Digest(buf, n, md, &l, m, 0)) {
        puts("fail");
        continue;
      }
      hex(ds[i], md, l);
    }
  }
  const char* cs[] = {"aes-128-cbc",
                      "aes-256-cbc",
                      "aes-128-ctr",
                      "aes-256-gcm",
                      "aes-128-xts",
                      "aes-256-ecb",
                      "aes-128-ocb",
                      "aes-256-ccm",
                      "chacha20",
                      "chacha20-poly1305",
                      "camellia-128-cbc",
                      "camellia-256-ctr",
                      "aria-128-cbc",
                      "sm4-cbc",
                      "des-ede3-cbc",
                      "aes-128-cbc-hmac-sha1",
                      "aes-256-cbc-hmac-sha256",
                      "aes-128-cfb",
                      "aes-128-ofb",
                      "rc4"};
  for (unsigned i = 0; i < sizeof cs / sizeof *cs; i++) {
    EVP_CIPHER_CTX* c = EVP_CIPHER_CTX_new();
    const EVP_CIPHER* t = EVP_get_cipherbyname(cs[i]);
    if (!t || !EVP_EncryptInit_ex(c, t, 0, buf, buf + 100)) {
      printf("no %s\n", cs[i]);
      EVP_CIPHER_CTX_free(c);
      continue;
    }
    int n = 0, m = 0;
    EVP_EncryptUpdate(c, out, &n, buf, 2048 + 16 * i);
    EVP_EncryptFinal_ex(c, out + n, &m);
    EVP_Digest(out, n + m, md, &l, EVP_sha256(), 0);
    printf("%d %d ", n, m);
    hex(cs[i], md, l);
    EVP_CIPHER_CTX_free(c);
  }
  BIGNUM *a = 0, *b = 0, *p = 0, *r = BN_new();
  BN_CTX* x = BN_CTX_new();
  BN_hex2bn(&a,
            "123456789abcdef0fedcba98765432100123456789abcdef0fedcba9876543210123456789abcdef0fedcb"
            "a9876543210deadbeefcafebabe123123123");
  BN_hex2bn(&b,
            "fedcba9876543210123456789abcdef00fedcba98765432101230123456789abcdef0fedcba987654321");
  BN_hex2bn(&p,
            "FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74020BBEA63B139B22514A08"
            "798E3404DDEF9519B3CD3A431B302B0A6DF25F14374FE1356D6D51C245E485B576625E7EC6F44C42E9A637"
            "ED6B0BFF5CB6F406B7EDEE386BFB5A899FA5AE9F24117C4B1FE649286651ECE65381FFFFFFFFFFFFFFFF");
  BN_mod_exp(r, a, b, p, x);
  puts(BN_bn2hex(r));
  BN_mul(r, a, b, x);
  puts(BN_bn2hex(r));
  BN_sqr(r, p, x);
  puts(BN_bn2hex(r));
  BN_mod_inverse(r, a, p, x);
  puts(BN_bn2hex(r));
  BN_mod_exp_mont_consttime(r, a, b, p, x, 0);
  puts(BN_bn2hex(r));
  int nids[] = {NID_X9_62_prime256v1, NID_secp384r1, NID_secp521r1, NID_secp256k1};
  for (int i = 0; i < 4; i++) {
    EC_GROUP* g = EC_GROUP_new_by_curve_name(nids[i]);
    EC_POINT* q = EC_POINT_new(g);
    EC_POINT_mul(g, q, b, 0, 0, x);
    puts(EC_POINT_point2hex(g, q, POINT_CONVERSION_COMPRESSED, x));
    EC_POINT_mul(g, q, a, q, b, x);
    puts(EC_POINT_point2hex(g, q, POINT_CONVERSION_COMPRESSED, x));
  }
  EVP_PKEY* k = EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, 0, buf, 32);
  size_t n = 64;
  EVP_PKEY_get_raw_public_key(k, md, &n);
  hex("x25519", md, n);
  k = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, 0, buf, 32);
  EVP_MD_CTX* mc = EVP_MD_CTX_new();
  n = sizeof out;
  EVP_DigestSignInit(mc, 0, 0, 0, k);
  EVP_DigestSign(mc, out, &n, buf, 1000);
  hex("ed25519", out, n);
  return 0;
}
