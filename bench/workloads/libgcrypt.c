#include <gcrypt.h>
#include <stdio.h>
int main(void) {
  gcry_check_version(NULL);
  gcry_control(GCRYCTL_DISABLE_SECMEM, 0);
  gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
  unsigned char b[4096], o[4096], h[64];
  for (int i = 0; i < 4096; i++) b[i] = i * 7;
  for (int a = 1; a < 330; a++) {
    if (gcry_md_test_algo(a)) continue;
    int n = gcry_md_get_algo_dlen(a);
    if (!n || n > 64) continue;
    gcry_md_hash_buffer(a, h, b, 4000);
    printf("md %d ", a);
    for (int i = 0; i < n; i++) printf("%02x", h[i]);
    puts("");
  }
  for (int a = 1; a < 330; a++)
    for (int m = 1; m <= 8; m++) {
      if (gcry_cipher_test_algo(a)) continue;
      gcry_cipher_hd_t c;
      if (gcry_cipher_open(&c, a, m, 0)) continue;
      if (gcry_cipher_setkey(c, b, gcry_cipher_get_algo_keylen(a))) {
        gcry_cipher_close(c);
        continue;
      }
      gcry_cipher_setiv(c, b, gcry_cipher_get_algo_blklen(a));
      if (!gcry_cipher_encrypt(c, o, 4096, b, 4096)) {
        gcry_md_hash_buffer(GCRY_MD_SHA256, h, o, 4096);
        printf("c %d %d ", a, m);
        for (int i = 0; i < 32; i++) printf("%02x", h[i]);
        puts("");
      }
      gcry_cipher_close(c);
    }
  return 0;
}
