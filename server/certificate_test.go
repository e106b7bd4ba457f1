package server

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// writeCertificate writes a certificate with a serial number, and its key, into a folder.
func writeCertificate(t *testing.T, dir string, serial int64) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"localhost"}}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	for name, block := range map[string]*pem.Block{
		"tls.crt": {Type: "CERTIFICATE", Bytes: cert},
		"tls.key": {Type: "PRIVATE KEY", Bytes: der},
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600))
	}
}

// A renewed certificate is used without a restart, and a broken one is not.
func TestCertificate(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	var log bytes.Buffer
	_, err := OpenCertificate(cert, key, slog.Default())
	require.ErrorIs(t, err, os.ErrNotExist)
	writeCertificate(t, dir, 1)
	c, err := OpenCertificate(cert, key, slog.New(slog.NewTextHandler(&log, nil)))
	require.NoError(t, err)
	require.Equal(t, int64(1), served(t, c))
	writeCertificate(t, dir, 2)
	require.Equal(t, int64(1), served(t, c)) // within a second
	for range 2 {
		c.read = time.Time{}
		require.Equal(t, int64(2), served(t, c))
	}
	require.NoError(t, os.WriteFile(key, nil, 0o600))
	for range 2 {
		c.read = time.Time{}
		require.Equal(t, int64(2), served(t, c))
	}
	require.Equal(t, 1, strings.Count(log.String(), "the last TLS certificate stays in use"))
	writeCertificate(t, dir, 3)
	c.read = time.Time{}
	require.Equal(t, int64(3), served(t, c))
	require.Equal(t, 1, strings.Count(log.String(), "level=WARN"))
}

// served returns the serial number of the certificate in a handshake.
func served(t *testing.T, c *Certificate) int64 {
	t.Helper()
	pair, err := c.Config().GetCertificate(nil)
	require.NoError(t, err)
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	require.NoError(t, err)
	return leaf.SerialNumber.Int64()
}
